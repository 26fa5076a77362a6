<?php

declare(strict_types=1);

namespace Ostiary;

/** Binds the result of a sign-in to the browser that waits at your site: docs/api/verification.md says why. */
final class ReturnCheck
{
    /**
     * @param bool $isBound Whether this browser belongs to the session.
     * @param string|null $reason If not: `other_browser` (the cookie or the session is not this browser's; somebody may have sent the
     *     link to somebody else), `no_code_hash` (the webhook may not have arrived yet, or no browser has ended the session) or
     *     `wrong_code` (the browser has no code, or another session's).
     */
    private function __construct(public readonly bool $isBound, public readonly ?string $reason)
    {
    }

    /** A random value for the cookie and for the parameter `state` of the redirect URL: one for each session. */
    public static function newState(): string
    {
        return rtrim(strtr(base64_encode(random_bytes(32)), '+/', '-_'), '=');
    }

    /**
     * Checks that a user comes back in the browser that has finished the session. Call it before you let anybody in.
     *
     * @param string $url What the browser has called: `$_SERVER['REQUEST_URI']`.
     * @param string|null $state The browser's cookie.
     * @param string|null $sessionId The session that you created for this state.
     * @param string|null $codeHash Of the webhook whose signature you have checked.
     */
    public static function of(string $url, ?string $state, ?string $sessionId, ?string $codeHash): self
    {
        if (!self::isEqual($state, self::first($url, 'state')) || !self::isEqual($sessionId, self::first($url, 'sessionId'))) {
            return new self(false, 'other_browser');
        }
        if ($codeHash === null || $codeHash === '') {
            return new self(false, 'no_code_hash');
        }
        return self::codeMatches(self::first($url, 'code'), $codeHash) ? new self(true, null) : new self(false, 'wrong_code');
    }

    /** Whether a code is the one that the session has ended with. For popups and frames, which get the code by message. */
    public static function codeMatches(?string $code, ?string $codeHash): bool
    {
        return ($code ?? '') !== '' && self::isEqual(strtolower($codeHash ?? ''), hash('sha256', $code));
    }

    /** Of a parameter that comes twice the first counts, as in the other clients; PHP's own arrays keep the last. */
    private static function first(string $url, string $name): ?string
    {
        $query = explode('#', explode('?', $url, 2)[1] ?? '', 2)[0];
        foreach (explode('&', $query) as $pair) {
            $parts = explode('=', $pair, 2);
            if (urldecode($parts[0]) === $name) {
                return urldecode($parts[1] ?? '');
            }
        }
        return null;
    }

    private static function isEqual(?string $known, ?string $given): bool
    {
        return ($known ?? '') !== '' && ($given ?? '') !== '' && hash_equals($known, $given);
    }
}
