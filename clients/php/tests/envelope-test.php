<?php

/** Area E's encryption against the published test vectors, both ways. */

declare(strict_types=1);

namespace Ostiary\Tests;

use Ostiary\Envelope;
use Ostiary\EnvelopeError;

require __DIR__ . '/check.php';

const KEY = 'ost_test_this-key-is-invented';
$file = getenv('OSTIARY_VECTORS') ?: __DIR__ . '/../../../docs/node-test-vectors.json';
$published = json_decode((string) file_get_contents($file), true, flags: JSON_THROW_ON_ERROR);

test('each test vector is opened and made again byte for byte', function () use ($published): void {
    same(count($published['vectors']) > 3, true, 'more than three vectors');
    foreach ($published['vectors'] as $vector) {
        $salt = (string) hex2bin($vector['salt_hex']);
        $key = Envelope::deriveKey($vector['api_key'], $salt, $vector['op']);
        $header = Envelope::headerText($vector['op'], $vector['mv'], $vector['iat'], $vector['jti'], $salt);
        same(bin2hex($key), $vector['key_hex'], "{$vector['name']}: key");
        same($header, $vector['header'], "{$vector['name']}: header");
        $made = Envelope::sealWith($key, (string) hex2bin($vector['nonce_hex']), $header, $vector['plaintext']);
        same($made, $vector['compact'], "{$vector['name']}: envelope");
        same(Envelope::open($vector['api_key'], $vector['compact'], $vector['op']), $vector['plaintext'], "{$vector['name']}: text");
    }
});

test('those that must not open do not', function () use ($published): void {
    same(count($published['refused']) > 3, true, 'more than three of them');
    foreach ($published['refused'] as $refused) {
        $open = fn() => Envelope::open($refused['api_key'], $refused['compact'], $refused['op']);
        thrown(EnvelopeError::class, $open, $refused['name']);
    }
});

test('an envelope opens for its purpose and key alone', function (): void {
    $compact = Envelope::seal(KEY, 'enroll', 'FACE3_1', 'Größe 🎂');
    same(Envelope::open(KEY, $compact, 'enroll'), 'Größe 🎂');
    thrown(EnvelopeError::class, fn() => Envelope::open(KEY, $compact, 'predict'));
    thrown(EnvelopeError::class, fn() => Envelope::open(KEY . 'x', $compact, 'enroll'));
});

test('no changed character opens', function (): void {
    $compact = Envelope::seal(KEY, 'puid', 'FACE3_1', '0199');
    foreach (str_split($compact) as $at => $character) {
        if ($character !== '.') {
            $changed = substr_replace($compact, $character === 'A' ? 'B' : 'A', $at, 1);
            thrown(EnvelopeError::class, fn() => Envelope::open(KEY, $changed, 'puid'), "at $at");
        }
    }
});

test('every envelope has its own salt, nonce and id', function (): void {
    $made = array_map(fn() => explode('.', Envelope::seal(KEY, 'predict', 'FACE3_3', '[]')), range(1, 20));
    foreach ([0, 2] as $part) {
        same(count(array_unique(array_column($made, $part))), 20, "part $part");
    }
});
