<?php

/** What `isOldEnough` says, by the table that all clients share. */

declare(strict_types=1);

namespace Ostiary\Tests;

use Ostiary\AgeSessions;

require __DIR__ . '/check.php';

$file = getenv('OSTIARY_AGE_VECTORS') ?: __DIR__ . '/../../../docs/age-test-vectors.json';
$vectors = json_decode((string) file_get_contents($file), true, flags: JSON_THROW_ON_ERROR)['vectors'];

test('[P1] all clients agree on who is old enough', function () use ($vectors): void {
    same(count($vectors), 48, 'the number of vectors');
    foreach ($vectors as $one) {
        $result = ['riskEvaluation' => ['recommendation' => $one['recommendation']]] + $one;
        same(AgeSessions::isOldEnough($result), $one['isOldEnough'], json_encode($one));
    }
});

test('[P1] what is missing is a no', function (): void {
    foreach ([[], ['flowStatus' => 'COMPLETED', 'status' => 'AGE_AT_THRESHOLD'], ['riskEvaluation' => null]] as $result) {
        same(AgeSessions::isOldEnough($result), false, json_encode($result));
    }
});
