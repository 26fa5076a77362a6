<?php

/** Receives webhooks with the client in PHP and prints a line for each: the event, or the reason why it is refused. For `php -S`. */

declare(strict_types=1);

use Ostiary\Webhook;
use Ostiary\WebhookError;

require __DIR__ . '/../../../clients/php/autoload.php';

try {
    $keys = explode(',', getenv('OSTIARY_API_KEYS'));
    $event = Webhook::receive(getallheaders(), (string) file_get_contents('php://input'), apiKeys: $keys);
    $facts = ['event' => $event->event, 'id' => $event->id, 'sessionId' => $event->sessionId, 'attempt' => $event->attempt];
    $line = $facts + ['host' => $_SERVER['HTTP_X_HOST'], 'text' => $event->body['metadata']['text'] ?? null];
    http_response_code(204);
} catch (WebhookError $error) {
    $line = ['refused' => $error->reason];
    http_response_code(401);
}
file_put_contents('php://stdout', json_encode($line) . "\n");
