<?php

/** Receiving webhooks: every reason, and that nothing but a genuine one is accepted. */

declare(strict_types=1);

namespace Ostiary\Tests;

use Ostiary\OstiaryError;
use Ostiary\Webhook;
use Ostiary\WebhookError;

require __DIR__ . '/check.php';

// Of the right form and invented: they open nothing.
const KEY = 'ost_test_07000g40r40m30e209185gr38e1w8124gk2gahc5rr34d1p70x3rfgv7bw1z';
const SAME_TENANT = 'ost_test_07144gj289144gj289144gj289144gj289144gj289144gj289144getqbsa';
const OTHER_TENANT = 'ost_test_081850m2ga1850m2ga1850m2ga1850m2ga1850m2ga1850m2ga1850za7r58';
const LIVE = 'ost_live_071c5gp2rb1c5gp2rb1c5gp2rb1c5gp2rb1c5gp2rb1c5gp2rb1c5gy4y38b';
const BODY = '{"sessionId":"s-1","status":"AGE_ABOVE_THRESHOLD","flowStatus":"COMPLETED","metadata":{"text":"Größe / 🎂"},"livemode":false}';

/**
 * What the service sends, as getallheaders() gives it.
 *
 * @param list<string> $keys
 * @param array<string, string|list<string>|null> $changes
 * @return array<string, string|list<string>>
 */
function signed(array $keys = [KEY], string $body = BODY, ?int $seconds = null, array $changes = [], ?\Closure $keyPair = null): array
{
    $timestamp = (string) ($seconds ?? time());
    $message = "d-1.$timestamp.$body";
    $v1 = array_map(function (string $key) use ($message): string {
        $secret = hash_hmac('sha256', 'ostiary/standard-webhooks/v1', $key, true);
        return 'v1,' . base64_encode(hash_hmac('sha256', $message, $secret, true));
    }, $keys);
    $headers = $changes + [
        'Webhook-Id' => 'd-1',
        'Webhook-Timestamp' => $timestamp,
        'Webhook-Signature' => implode(' ', [...$v1, ...($keyPair === null ? [] : [$keyPair($message)])]),
        'X-Service-Event' => 'age.session.completed',
        'X-Service-Attempt' => '2',
        'X-Service-Key' => implode(' ', array_map(fn(string $key) => substr($key, 0, 11) . '...' . substr($key, -4), $keys)),
    ];
    return array_filter($headers, fn(mixed $value) => $value !== null);
}

/** @param array<string, mixed> $options */
function reason(array $headers, mixed $body = BODY, array $options = []): string
{
    $receive = fn() => Webhook::receive($headers, $body, ...($options + ['apiKeys' => [KEY]]));
    return thrown(WebhookError::class, $receive)->reason;
}

test('a genuine one gives its event', function (): void {
    $event = Webhook::receive(signed(), BODY, apiKeys: [KEY]);
    same([$event->event, $event->id, $event->sessionId], ['age.session.completed', 'd-1', 's-1']);
    same([$event->attempt, $event->livemode, $event->body['metadata']['text']], [2, false, 'Größe / 🎂']);
    $listed = array_map(fn(string $value) => [$value], signed());
    same(Webhook::receive($listed, BODY, apiKeys: [KEY])->id, 'd-1', 'headers of PSR-7');
});

test('any of several keys will do, on both sides', function (): void {
    same(Webhook::receive(signed(), BODY, apiKeys: [OTHER_TENANT, KEY])->id, 'd-1');
    same(Webhook::receive(signed([SAME_TENANT, KEY]), BODY, apiKeys: [KEY])->id, 'd-1');
});

test('six planted faults give six reasons', function (): void {
    $rewritten = (string) json_encode(json_decode(BODY), JSON_PRETTY_PRINT);
    same(
        [
            reason(signed(), $rewritten),
            reason(signed([OTHER_TENANT])),
            reason(signed([LIVE])),
            reason(signed([SAME_TENANT])),
            reason(signed(seconds: time() - 302)),
            reason(signed(), strtr(BODY, ['ABOVE' => 'BELOW'])),
        ],
        ['body_parsed', 'wrong_key', 'other_mode', 'key_not_listed', 'outside_window', 'body_changed'],
    );
});

test('the other reasons', function (): void {
    same(reason(signed(), ['sessionId' => 's-1']), 'body_parsed');
    same(reason(signed([OTHER_TENANT], changes: ['X-Service-Key' => null])), 'signature_wrong');
    same(reason(signed([OTHER_TENANT], changes: ['X-Service-Key' => '<b>'])), 'signature_wrong');
    same(reason([]), 'headers_missing');
    same(reason(signed(changes: ['Webhook-Id' => 'a b'])), 'headers_missing');
    same(reason(signed() + ['webhook-id' => 'd-2']), 'headers_missing');
    same(reason(signed(changes: ['Webhook-Id' => ['d-1', 'd-2']])), 'headers_missing');
    same(reason(signed(), str_repeat('x', 20 * 1024 * 1024 + 1)), 'body_too_large');
    same(reason(signed(changes: ['X-Service-Event' => 'age.session.expired'])), 'event_mismatch');
    same(reason(signed(body: '{}'), '{}'), 'unknown_event');
    same(reason(signed(), str_repeat('[', 100_000)), 'body_changed');
    same(reason(signed(changes: ['Webhook-Id' => 'd-2'])), 'body_changed', 'another id, which is signed too,');
});

test('the window counts both ways and can be wider', function (): void {
    $ahead = signed(seconds: time() + 400);
    same(reason($ahead), 'outside_window');
    same(Webhook::receive($ahead, BODY, apiKeys: [KEY], tolerance: 500)->id, 'd-1');
    same(Webhook::receive(signed(seconds: 1000), BODY, apiKeys: [KEY], now: 1100)->id, 'd-1');
});

test('keys that could check nothing are refused', function (): void {
    foreach ([[], [''], [KEY, substr(KEY, 0, -1)]] as $keys) {
        thrown(OstiaryError::class, fn() => Webhook::receive(signed(), BODY, apiKeys: $keys));
    }
    thrown(OstiaryError::class, fn() => Webhook::fetchKeys('http://ostiary.example.com', 'tenant'));
});

test('every event is read from its body', function (): void {
    $age = json_decode(BODY, true);
    $verification = ['sessionId' => 's-2', 'type' => 'SIGN-IN', 'outcome' => 'FAILED', 'livemode' => false];
    $cases = [
        'age.session.cancelled' => ['flowStatus' => 'CANCELLED'] + $age,
        'age.session.expired' => ['flowStatus' => 'EXPIRED'] + $age,
        'verification.succeeded' => ['status' => 'SUCCESS'] + $verification,
        'verification.failed' => ['status' => 'error'] + $verification,
    ];
    foreach ($cases as $name => $body) {
        $text = (string) json_encode($body);
        same(Webhook::receive(signed(body: $text, changes: ['X-Service-Event' => $name]), $text, apiKeys: [KEY])->event, $name);
    }
});

test('with public keys the signature of the key pair is demanded', function (): void {
    $pairs = [sodium_crypto_sign_keypair(), sodium_crypto_sign_keypair()];
    $signature = fn(string $pair) => fn(string $message) =>
        'v1a,' . base64_encode(sodium_crypto_sign_detached($message, sodium_crypto_sign_secretkey($pair)));
    $jwks = array_map(fn(string $pair) => [
        'kty' => 'OKP',
        'crv' => 'Ed25519',
        'x' => sodium_bin2base64(sodium_crypto_sign_publickey($pair), SODIUM_BASE64_VARIANT_URLSAFE_NO_PADDING),
    ], $pairs);
    $genuine = signed(keyPair: $signature($pairs[0]));
    same(Webhook::receive($genuine, BODY, publicKeys: [$jwks[0]])->id, 'd-1');
    same(Webhook::receive($genuine, BODY, publicKeys: ['keys' => $jwks])->id, 'd-1');
    // A leaked API key is no help: it is not looked at.
    $options = ['publicKeys' => [$jwks[0]]];
    same(reason(signed(), BODY, $options), 'no_key_pair_signature');
    same(reason(signed(keyPair: $signature($pairs[1])), BODY, $options), 'key_pair_wrong');
    same(reason($genuine, BODY . ' ', $options), 'body_parsed');
    same(reason($genuine, strtr(BODY, ['ABOVE' => 'BELOW']), $options), 'key_pair_wrong');
    same(reason(signed(seconds: 5, keyPair: $signature($pairs[0])), BODY, $options), 'outside_window');
    thrown(OstiaryError::class, fn() => Webhook::receive($genuine, BODY, publicKeys: [['kty' => 'oct']]));
});
