<?php

/** What is refused before the first call, and the small rules. Retries are tested against a server, by the tests of the clone. */

declare(strict_types=1);

namespace Ostiary\Tests;

use Ostiary\Client;
use Ostiary\ConfigWarning;
use Ostiary\OstiaryError;
use Ostiary\ReturnCheck;
use Ostiary\SessionCalls;

require __DIR__ . '/check.php';

// Of the right form, made of the numbers 0 to 31: it opens nothing.
const API_KEY = 'ost_test_07000g40r40m30e209185gr38e1w8124gk2gahc5rr34d1p70x3rfgv7bw1z';
const URL = 'https://ostiary.example.com';

test('an address that cannot work is refused', function (): void {
    $refused = [
        '',
        'localhost:8080',
        'ostiary.example.com',
        '//ostiary.example.com',
        'ftp://ostiary.example.com',
        'https://',
        'https://ostiary.example.com:99999',
        'https://ostiary.example.com:0',
        "https://ostiary.example.com\n",
        'https://key@ostiary.example.com',
        'https://ostiary.example.com?key=1',
        'https://ostiary.example.com#top',
    ];
    foreach ($refused as $baseUrl) {
        $error = thrown(OstiaryError::class, fn() => new Client($baseUrl), $baseUrl);
        same([$error->status, $error->errorCode], [0, 'INVALID_OPTION'], $baseUrl);
    }
    foreach (['https://ostiary.example.com/', 'http://127.0.0.1:8080', 'https://host.example/ostiary'] as $baseUrl) {
        new Client($baseUrl);
    }
});

test('a cut-off or mistyped key is refused', function (): void {
    new Client(URL, API_KEY);
    $wrong = ['', substr(API_KEY, 0, -1), API_KEY . '0', ' ' . API_KEY, strtr(API_KEY, ['_test_' => '_live_']), API_KEY . "\n"];
    foreach ($wrong as $key) {
        thrown(OstiaryError::class, fn() => new Client(URL, $key), $key);
    }
});

test('half of the client credentials and area E without a key are refused', function (): void {
    thrown(OstiaryError::class, fn() => new Client(URL, API_KEY, clientId: 'ostc_test_1'));
    thrown(OstiaryError::class, fn() => (new Client(URL))->node->enroll([array_fill(0, 128, 0.5)]));
});

test('what is no JSON is refused, and not sent again and again', function (): void {
    $client = new Client(URL, API_KEY, transport: fn() => throw new \LogicException('nothing is to be sent'));
    $error = thrown(OstiaryError::class, fn() => $client->age->create(['redirectUrl' => "\xff", 'ageThreshold' => 30]));
    same($error->errorCode, 'INVALID_OPTION');
});

test('warnings are read with their subject', function (): void {
    $found = ConfigWarning::listIn('estimate-without-buffer, ignored-field: livenessEnabled');
    same(array_map('strval', $found), ['estimate-without-buffer', 'ignored-field: livenessEnabled']);
    same([$found[1]->code, $found[1]->subject], ['ignored-field', 'livenessEnabled']);
    same(ConfigWarning::listIn(''), []);
});

test('moments are written in UTC', function (): void {
    same(SessionCalls::momentText(new \DateTimeImmutable('2026-01-31T13:00:00+01:00')), '2026-01-31T12:00:00.000Z');
});

test('a transport of your own takes the place of the streams; an empty array is sent as an object', function (): void {
    $sent = [];
    $transport = function (string $method, string $url, array $headers, ?string $body) use (&$sent): array {
        $sent = [$method, $url, $headers['x-api-key'], $body];
        $made = ['token' => 't', 'launchUrl' => 'l', 'sessionId' => 's', 'expiresAt' => 'e', 'livemode' => false];
        return ['status' => 201, 'headers' => ['x-config-warning' => 'estimate-without-buffer'], 'body' => json_encode($made)];
    };
    $seen = [];
    $onWarning = function (ConfigWarning $warning) use (&$seen): void {
        $seen[] = $warning->code;
    };
    $client = new Client(URL, API_KEY, transport: $transport, onWarning: $onWarning, logWarnings: false);
    $made = $client->age->create(['redirectUrl' => 'https://shop.example/', 'ageThreshold' => 18, 'metadata' => []]);
    same($sent, ['POST', URL . '/session', API_KEY, '{"redirectUrl":"https://shop.example/","ageThreshold":18,"metadata":{}}']);
    same([$made->warnings[0]->code, $seen], ['estimate-without-buffer', ['estimate-without-buffer']]);
});

test('a return binds the browser that finished, and no other', function (): void {
    $state = ReturnCheck::newState();
    $hash = hash('sha256', 'code-1');
    $url = fn(array $changes = []) => '/back?' . http_build_query(
        $changes + ['state' => $state, 'sessionId' => 's-1', 'status' => 'SUCCESS', 'code' => 'code-1'],
    );
    same(ReturnCheck::of($url(), $state, 's-1', $hash)->isBound, true);
    same(ReturnCheck::of('https://shop.example' . $url(), $state, 's-1', strtoupper($hash))->isBound, true);
    $cases = [
        [$url(['state' => 'x']), $state, 's-1', $hash, 'other_browser'],
        [$url(['sessionId' => 's-2']), $state, 's-1', $hash, 'other_browser'],
        [$url(), null, 's-1', $hash, 'other_browser'],
        [$url(), $state, null, $hash, 'other_browser'],
        [$url(), $state, 's-1', null, 'no_code_hash'],
        [$url(['code' => 'code-2']), $state, 's-1', $hash, 'wrong_code'],
        [$url(['code' => '']), $state, 's-1', $hash, 'wrong_code'],
        ['/back?state=x&state=' . $state . '&sessionId=s-1&code=code-1', $state, 's-1', $hash, 'other_browser'],
    ];
    foreach ($cases as $at => [$called, $cookie, $session, $codeHash, $reason]) {
        $check = ReturnCheck::of($called, $cookie, $session, $codeHash);
        same([$check->isBound, $check->reason], [false, $reason], "case $at");
    }
    same(ReturnCheck::codeMatches('code-1', $hash), true);
    same(ReturnCheck::codeMatches(null, $hash), false);
    same(count(array_unique(array_map(fn() => ReturnCheck::newState(), range(1, 50)))), 50);
});
