<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * Refuses an address or a key that cannot work, before the first call.
 *
 * @internal
 */
final class Arguments
{
    private const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
    private const CHECKSUM_CHARS = 6;

    /** The address without a slash at its end. */
    public static function baseUrl(string $baseUrl): string
    {
        $parts = parse_url($baseUrl);
        $scheme = is_array($parts) ? strtolower($parts['scheme'] ?? '') : '';
        if (!is_array($parts) || !in_array($scheme, ['http', 'https'], true) || ($parts['host'] ?? '') === '') {
            throw OstiaryError::invalid(
                'baseUrl must begin with https:// (or http:// on this machine) and name a host, as in https://ostiary.example.com',
            );
        }
        if (($parts['port'] ?? 1) === 0 || preg_match('/[\s\x00-\x1f\x7f]/', $baseUrl) === 1) {
            throw OstiaryError::invalid('baseUrl must not have spaces, line breaks or port 0');
        }
        if (isset($parts['user']) || isset($parts['pass'])) {
            throw OstiaryError::invalid('baseUrl must not have a user name or a password: the API key is an argument of its own');
        }
        if (strpbrk($baseUrl, '?#') !== false) {
            throw OstiaryError::invalid('baseUrl must not have a query or a fragment');
        }
        return rtrim($baseUrl, '/');
    }

    public static function apiKey(string $apiKey): string
    {
        if (!self::isApiKey($apiKey)) {
            throw OstiaryError::invalid('This is not an Ostiary API key: was it copied completely?');
        }
        return $apiKey;
    }

    /** Whether a text can be a key: its checksum shows a cut-off or mistyped one. */
    public static function isApiKey(string $text): bool
    {
        if (preg_match('/^ost_(live|test)_[' . self::ALPHABET . ']{60}$/D', $text) !== 1) {
            return false;
        }
        $checksum = crc32(substr($text, 0, -self::CHECKSUM_CHARS));
        $expected = '';
        for ($shift = (self::CHECKSUM_CHARS - 1) * 5; $shift >= 0; $shift -= 5) {
            $expected .= self::ALPHABET[($checksum >> $shift) % 32];
        }
        return substr($text, -self::CHECKSUM_CHARS) === $expected;
    }
}
