<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * Area E's encryption, version 1: a compact JWE (RFC 7516) with `dir` and `A256GCM`. Its key is
 * HKDF-SHA256(secret = the whole API key, salt = 16 bytes, info = "ostiary/node/v1/" + op, length = 32); docs/api/biometrics.md describes
 * the header.
 */
final class Envelope
{
    private const CIPHER = 'aes-256-gcm';
    private const SALT_BYTES = 16;
    private const NONCE_BYTES = 12;
    private const TAG_BYTES = 16;
    private const HEADER_CHARS = 2048;

    /** Encrypts a text for one operation. Make a new envelope for every call, repeated ones too. */
    public static function seal(#[\SensitiveParameter] string $apiKey, string $op, string $modelVersion, string $text): string
    {
        $salt = random_bytes(self::SALT_BYTES);
        $header = self::headerText($op, $modelVersion, time(), bin2hex(random_bytes(16)), $salt);
        return self::sealWith(self::deriveKey($apiKey, $salt, $op), random_bytes(self::NONCE_BYTES), $header, $text);
    }

    /** With a given nonce, which must be new for every envelope: only test vectors have fixed ones. */
    public static function sealWith(#[\SensitiveParameter] string $key, string $nonce, string $header, string $text): string
    {
        $first = self::encode($header);
        $sealed = openssl_encrypt($text, self::CIPHER, $key, OPENSSL_RAW_DATA, $nonce, $tag, $first, self::TAG_BYTES);
        if ($sealed === false) {
            throw new EnvelopeError('OpenSSL does not encrypt with AES-256-GCM');
        }
        return implode('.', [$first, '', self::encode($nonce), self::encode($sealed), self::encode($tag)]);
    }

    /** Decrypts an envelope that was made for `op`; throws for any other. */
    public static function open(#[\SensitiveParameter] string $apiKey, string $compact, string $op): string
    {
        // Header, no encrypted key, nonce of 12 bytes, content, tag of 16 bytes.
        if (preg_match('/^([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]*)\.([A-Za-z0-9_-]{22})$/D', $compact, $parts) !== 1) {
            throw new EnvelopeError('this is no compact JWE');
        }
        [, $first, $nonce, $content, $tag] = $parts;
        $header = self::readHeader($first);
        if ($header['op'] !== $op) {
            throw new EnvelopeError("the envelope is for {$header['op']}, not for $op");
        }
        $key = self::deriveKey($apiKey, self::decode($header['salt']), $op);
        $sealed = self::decode($content);
        $text = openssl_decrypt($sealed, self::CIPHER, $key, OPENSSL_RAW_DATA, self::decode($nonce), self::decode($tag), $first);
        if ($text === false || preg_match('//u', $text) !== 1) {
            throw new EnvelopeError('the envelope does not open with this API key');
        }
        return $text;
    }

    /** The protected header. Its fields may stand in any order; this is the order of the test vectors. */
    public static function headerText(string $op, string $modelVersion, int $issuedAt, string $id, string $salt): string
    {
        return Json::encode([
            'alg' => 'dir',
            'enc' => 'A256GCM',
            'v' => 1,
            'salt' => self::encode($salt),
            'mv' => $modelVersion,
            'op' => $op,
            'iat' => $issuedAt,
            'jti' => $id,
        ]);
    }

    public static function deriveKey(#[\SensitiveParameter] string $apiKey, string $salt, string $op): string
    {
        return hash_hkdf('sha256', $apiKey, 32, "ostiary/node/v1/$op", $salt);
    }

    /** @return array{op: string, salt: string} Checked before a key is derived from it. */
    private static function readHeader(string $first): array
    {
        $header = strlen($first) > self::HEADER_CHARS ? null : json_decode(self::decode($first), true);
        $isFixed = is_array($header) && [$header['alg'] ?? null, $header['enc'] ?? null, $header['v'] ?? null] === ['dir', 'A256GCM', 1];
        $isPlain = $isFixed && !array_key_exists('zip', $header) && !array_key_exists('crit', $header);
        if (!$isPlain || !is_string($header['op'] ?? null) || !is_string($header['salt'] ?? null)) {
            throw new EnvelopeError('the header of the JWE is not as described');
        }
        if (strlen(self::decode($header['salt'])) !== self::SALT_BYTES) {
            throw new EnvelopeError('the header of the JWE is not as described');
        }
        return $header;
    }

    private static function encode(string $data): string
    {
        return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
    }

    /** Refuses a text that is not the only one for its bytes: a changed envelope would open. */
    private static function decode(string $text): string
    {
        $data = base64_decode(strtr($text, '-_', '+/'), true);
        if ($data === false || self::encode($data) !== $text) {
            throw new EnvelopeError('a part of the JWE is not exact base64url');
        }
        return $data;
    }
}
