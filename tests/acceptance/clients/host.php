<?php

/** A host that uses the client in PHP: sessions of areas C and D, made, ended, cancelled, read and listed. Prints what it got. */

declare(strict_types=1);

use Ostiary\Client;
use Ostiary\CreatedAgeSession;
use Ostiary\OstiaryError;

require __DIR__ . '/../../../clients/php/autoload.php';

[$url, $order, $liveKey] = [getenv('OSTIARY_URL'), getenv('ORDER'), getenv('LIVE_KEY')];
$ostiary = new Client($url, getenv('OSTIARY_API_KEY'), logWarnings: false);
$callback = ['url' => getenv('CALLBACK_URL'), 'headers' => ['x-host' => 'host-1']];

$age = fn(float $threshold): CreatedAgeSession => $ostiary->age->create([
    'redirectUrl' => 'https://shop.example/done',
    'ageThreshold' => $threshold,
    'callback' => $callback,
    'metadata' => ['order' => $order, 'text' => 'Größe 44 / 🎂'],
]);
$verification = fn(string $type) => $ostiary->verification->create([
    'type' => $type,
    'redirectURL' => 'https://shop.example/back',
    'callback' => $callback,
    'transactionID' => $order,
]);
$codeOf = function (Closure $call): mixed {
    try {
        return $call();
    } catch (OstiaryError $error) {
        return [$error->status, $error->errorCode];
    }
};

$completed = $age(18);
$openResult = $ostiary->age->result($completed->token);
$ostiary->test->outcome($completed->sessionId, ['outcome' => 'AGE_ABOVE_THRESHOLD']);
$cancelled = $age(30);
[$enrolled, $failed] = [$verification('ENROLL'), $verification('SIGN-IN')];
$openCode = $codeOf(fn() => $ostiary->verification->webhook($enrolled->sessionId));
$ostiary->test->outcome($enrolled->sessionId);
$ostiary->test->outcome($failed->sessionId, ['outcome' => 'spoof']);
$plain = ['redirectUrl' => 'https://shop.example/done', 'ageThreshold' => 30];
$sameKey = array_map(fn() => $ostiary->age->create($plain, idempotencyKey: $order)->sessionId, [1, 2]);
$listed = iterator_to_array($ostiary->age->all(['metadata' => ['order' => $order], 'limit' => 1]), false);
$listedIds = array_column($listed, 'sessionId');
sort($listedIds);
$live = new Client($url, $liveKey, clientId: getenv('CLIENT_ID'), clientSecret: getenv('CLIENT_SECRET'));
echo json_encode([
    'ids' => [$completed->sessionId, $cancelled->sessionId, $enrolled->sessionId, $failed->sessionId],
    'warnings' => array_map('strval', $completed->warnings),
    'open' => $openResult['flowStatus'],
    'completed' => $ostiary->age->waitForResult($completed->token)['status'],
    'state' => $ostiary->age->get($completed->token)['state'],
    'cancelled' => $ostiary->age->cancel($cancelled->token)['outcome'],
    'cancelledAgain' => $codeOf(fn() => $ostiary->age->cancel($cancelled->token)),
    'openWebhook' => $openCode,
    'enrolled' => $ostiary->verification->webhook($enrolled->sessionId)['status'],
    'failed' => $ostiary->verification->get($failed->sessionId)['outcome'],
    'listed' => $listedIds,
    'listedVerifications' => count($ostiary->verification->list(['limit' => 2])->items),
    'isOneSession' => count(array_unique($sameKey)) === 1,
    'live' => count($live->verification->list(['limit' => 1])->items) <= 1,
    'withoutCredentials' => $codeOf(fn() => (new Client($url, $liveKey))->verification->list())[0],
    'unknown' => $codeOf(fn() => $ostiary->age->get('at_unknown')),
    'refused' => $codeOf(fn() => $ostiary->age->create(['redirectUrl' => 'https://shop.example/'])),
    'key' => $ostiary->node->checkKey()['status'],
]);
