<?php

/** The calls that clients.test.ts counts at its faulty server: each base URL is a fault of its own. Prints what came of them. */

declare(strict_types=1);

use Ostiary\Client;
use Ostiary\ConfigWarning;
use Ostiary\OstiaryError;

require __DIR__ . '/../../../clients/php/autoload.php';

const BODY = ['redirectUrl' => 'https://shop.example/done', 'ageThreshold' => 30];

function client(string $fault, mixed ...$options): Client
{
    return new Client(getenv('FAULTY_URL') . "/$fault", getenv('API_KEY'), ...$options, logWarnings: false);
}

/** @return array<string, mixed>|null */
function failure(string $fault, ?Closure $call = null, mixed ...$options): ?array
{
    try {
        ($call ?? fn(Client $made) => $made->age->create(BODY))(client($fault, ...$options));
    } catch (OstiaryError $error) {
        return [
            'status' => $error->status,
            'code' => $error->errorCode,
            'message' => $error->getMessage(),
            'requestId' => $error->requestId,
            'details' => $error->details,
            'retryAfter' => $error->retryAfter,
        ];
    }
    return null;
}

$retries = [];
$transient = client('transient', onRetry: function (OstiaryError $error, int $attempt, float $wait) use (&$retries): void {
    $retries[] = [$error->status, $attempt, $wait >= 0];
});
$warnings = [];
$warned = client('warned', onWarning: function (ConfigWarning $warning) use (&$warnings): void {
    $warnings[] = (string) $warning;
})->age->create(BODY);
$lost = client('lost');
$lost->age->erase('at_1');
$people = client('people');
$credentials = client('credentials', clientId: 'id:1', clientSecret: 's/1');
$made = array_map(fn() => $transient->age->create(BODY)->sessionId, range(1, 7));
$events = [];
foreach (client('events')->events->stream('start') as $event) {
    if (array_push($events, $event['id']) === 3) {
        break;
    }
}
$listed = client('pages')->age->all(['state' => 'COMPLETED', 'metadata' => ['order' => 'A 7']]);
echo json_encode([
    'transient' => $made,
    'retries' => $retries,
    'refused' => failure('refused'),
    'proxy' => failure('proxy'),
    'injected' => failure('stolen', fn(Client $made) => $made->age->create(BODY, idempotencyKey: "a\r\nx-b: c")),
    'givenUp' => failure('down', maxRetries: 2),
    'longWait' => failure('busy'),
    'slow' => failure('slow', timeout: 0.3, maxRetries: 0),
    'notJson' => failure('page', maxRetries: 0),
    'redirect' => failure('moved'),
    'once' => failure('lost-clock', fn(Client $made) => $made->test->advanceClock(60)),
    'warnings' => [$warnings, array_map('strval', $warned->warnings)],
    'cancelled' => $lost->age->cancel('at_1')['outcome'],
    'isDeleted' => $lost->node->deleteUser('0199'),
    'people' => [
        $people->verification->lockout(puid: 'p 1')['locked'],
        $people->verification->unlock(customerId: 'c 1')['locked'],
        $people->verification->list(['transactionID' => 'o/7 &', 'limit' => 5])->items,
        $people->node->deleteUser(metadataId: 'c 1'),
        $people->node->deleteUser('0199'),
    ],
    'tokens' => array_map(fn(int $one) => $credentials->verification->get((string) $one)['sessionId'], range(0, 2)),
    'events' => $events,
    'all' => array_map(fn(array $one) => $one['sessionId'], iterator_to_array($listed, false)),
]);
