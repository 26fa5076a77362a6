<?php

/** One call of area E by the client in PHP: `enroll`, `predict` or `delete`, with vectors or an id as JSON on the standard input. */

declare(strict_types=1);

use Ostiary\Client;

require __DIR__ . '/../../../clients/php/autoload.php';

$node = (new Client(getenv('OSTIARY_URL'), getenv('OSTIARY_API_KEY')))->node;
$given = json_decode((string) stream_get_contents(STDIN), true);
if ($argv[1] === 'enroll') {
    $enrolled = $node->enroll($given);
    echo json_encode(['puid' => $enrolled->puid, 'guid' => $enrolled->guid, 'isNew' => $enrolled->isNew]);
} elseif ($argv[1] === 'predict') {
    echo json_encode($node->predict($given, k: 2));
} else {
    echo json_encode($node->deleteUser($given));
}
