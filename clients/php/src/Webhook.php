<?php

declare(strict_types=1);

namespace Ostiary;

/** Receives webhooks: checks the signature and gives an event, or the reason why it is not genuine. */
final class Webhook
{
    public const TOLERANCE_SECONDS = 300;
    private const BODY_BYTES_MAX = 20 * 1024 * 1024;
    private const SECRET_LABEL = 'ostiary/standard-webhooks/v1';
    /** A rotation has two. A sender must not be able to ask for thousands of comparisons. */
    private const SIGNATURES_MAX = 8;
    private const SHAPES = [
        'webhook-id' => '/^[A-Za-z0-9_-]{1,100}$/D',
        'webhook-timestamp' => '/^[0-9]{1,15}$/D',
        'webhook-signature' => '/^[\x20-\x7e]+$/D',
    ];
    private const HINT = '/^ost_(live|test)_[0-9a-z]{2}\.{3}[0-9a-z]{4}$/D';

    /** @param array<string, string> $headers By their names in lower case. */
    private function __construct(private readonly array $headers, private readonly string $body)
    {
    }

    /**
     * The event of a genuine webhook; throws a WebhookError, whose `reason` says what is wrong, for anything else.
     *
     * @param array<string, string|list<string>> $headers `getallheaders()`, or those of PSR-7.
     * @param mixed $body The bytes as they came: `file_get_contents('php://input')`. Anything parsed is refused.
     * @param list<string> $apiKeys All keys of yours that are not revoked.
     * @param array<mixed>|null $publicKeys A list of JWKs or the key set (`fetchKeys`). With them the signature of the tenant's key pair
     *     is demanded, and API keys count for nothing: a leaked one forges no webhook.
     * @param int $tolerance Seconds.
     */
    public static function receive(
        array $headers,
        mixed $body,
        #[\SensitiveParameter] array $apiKeys = [],
        ?array $publicKeys = null,
        int $tolerance = self::TOLERANCE_SECONDS,
        ?int $now = null,
    ): WebhookEvent {
        if ($publicKeys === null && $apiKeys === []) {
            throw OstiaryError::invalid('receive() needs apiKeys or publicKeys');
        }
        array_map(Arguments::apiKey(...), $apiKeys);
        if (!is_string($body)) {
            throw new WebhookError('body_parsed', 'the body is of type ' . get_debug_type($body) . ', not a text');
        }
        if (strlen($body) > self::BODY_BYTES_MAX) {
            throw new WebhookError('body_too_large');
        }
        $received = new self(self::readHeaders($headers), $body);
        if ($publicKeys === null) {
            $received->checkApiKeys($apiKeys);
        } else {
            $received->checkKeyPair($publicKeys['keys'] ?? $publicKeys);
        }
        // After the signature: a time that nobody signed says nothing.
        $seconds = ($now ?? time()) - (int) $received->headers['webhook-timestamp'];
        if (abs($seconds) > $tolerance) {
            throw new WebhookError('outside_window', $seconds > 0 ? "signed $seconds s ago" : 'signed ' . -$seconds . ' s in the future');
        }
        return $received->event();
    }

    /**
     * The public keys of a tenant's webhooks. Keep them for at most five minutes, and read them again when none fits. Never accept both
     * modes at one receiver: test webhooks say what a test key asks for.
     *
     * @return list<array<string, string>>
     */
    public static function fetchKeys(string $baseUrl, string $tenantId, string $mode = 'live'): array
    {
        $host = parse_url(Arguments::baseUrl($baseUrl), PHP_URL_HOST);
        if (!str_starts_with(strtolower($baseUrl), 'https://') && !in_array($host, ['localhost', '127.0.0.1', '[::1]'], true)) {
            throw OstiaryError::invalid('Public keys must come by https: on the way, anybody could put other ones in their place');
        }
        return (new Client($baseUrl))->webhookKeys($tenantId, $mode);
    }

    /**
     * A header that came twice counts as absent: two verifiers could read different ones.
     *
     * @param array<string, string|list<string>> $headers
     * @return array<string, string>
     */
    private static function readHeaders(array $headers): array
    {
        $all = [];
        foreach ($headers as $name => $value) {
            $all[strtolower((string) $name)] = [...($all[strtolower((string) $name)] ?? []), ...array_values((array) $value)];
        }
        $once = array_filter($all, static fn(array $values) => count($values) === 1);
        $found = array_map(static fn(array $values) => (string) $values[0], $once);
        foreach (self::SHAPES as $name => $shape) {
            if (preg_match($shape, $found[$name] ?? '') !== 1) {
                throw new WebhookError('headers_missing', "see $name");
            }
        }
        return $found;
    }

    /** @param list<string> $apiKeys */
    private function checkApiKeys(#[\SensitiveParameter] array $apiKeys): void
    {
        if ($this->isSignedBy($apiKeys, $this->body)) {
            return;
        }
        $writtenAgain = self::compact($this->body);
        if ($writtenAgain !== null && $this->isSignedBy($apiKeys, $writtenAgain)) {
            throw new WebhookError('body_parsed');
        }
        $hints = $this->headers['x-service-key'] ?? null;
        $shown = $hints === null ? null : 'signed by ' . substr((string) preg_replace('/[^\w. ]/', '?', $hints), 0, 100);
        throw new WebhookError(self::reasonOf($apiKeys, $hints ?? ''), $shown);
    }

    /**
     * Each signature is compared with one of each key, in constant time.
     *
     * @param list<string> $apiKeys
     */
    private function isSignedBy(#[\SensitiveParameter] array $apiKeys, string $body): bool
    {
        $isFound = false;
        foreach ($apiKeys as $key) {
            $secret = hash_hmac('sha256', self::SECRET_LABEL, $key, true);
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', $this->signed($body), $secret, true));
            foreach ($this->signatures() as $given) {
                $isFound = hash_equals($expected, $given) || $isFound;
            }
        }
        return $isFound;
    }

    /** @param array<mixed> $keys */
    private function checkKeyPair(array $keys): void
    {
        $given = array_filter($this->signatures(), static fn(string $one) => str_starts_with($one, 'v1a,'));
        if ($given === []) {
            throw new WebhookError('no_key_pair_signature');
        }
        $public = array_map(self::keyBytes(...), $keys);
        $isGenuine = function (string $body) use ($given, $public): bool {
            foreach ($given as $one) {
                if (preg_match('#^v1a,([A-Za-z0-9+/]{86}==)$#D', $one, $found) !== 1) {
                    continue;
                }
                foreach ($public as $key) {
                    if (sodium_crypto_sign_verify_detached((string) base64_decode($found[1], true), $this->signed($body), $key)) {
                        return true;
                    }
                }
            }
            return false;
        };
        if ($isGenuine($this->body)) {
            return;
        }
        $writtenAgain = self::compact($this->body);
        throw new WebhookError($writtenAgain !== null && $isGenuine($writtenAgain) ? 'body_parsed' : 'key_pair_wrong');
    }

    private static function keyBytes(mixed $jwk): string
    {
        $text = is_array($jwk) && ($jwk['crv'] ?? null) === 'Ed25519' ? $jwk['x'] ?? '' : '';
        $data = is_string($text) ? base64_decode(strtr($text, '-_', '+/'), true) : false;
        if ($data === false || strlen($data) !== SODIUM_CRYPTO_SIGN_PUBLICKEYBYTES) {
            throw OstiaryError::invalid('publicKeys must be the JWKs of the key set: kty OKP, crv Ed25519');
        }
        return $data;
    }

    /**
     * What the hints at the keys that signed (`ost_test_7k...9f2c`) say about a signature that matches no key of ours.
     *
     * @param list<string> $apiKeys
     */
    private static function reasonOf(#[\SensitiveParameter] array $apiKeys, string $hints): string
    {
        $signers = array_values(array_filter(explode(' ', $hints), static fn(string $hint) => preg_match(self::HINT, $hint) === 1));
        if ($signers === []) {
            return 'signature_wrong';
        }
        $starts = static fn(array $texts, int $chars) => array_map(static fn(string $text) => substr($text, 0, $chars), $texts);
        $own = array_map(static fn(string $key) => substr($key, 0, 11) . '...' . substr($key, -4), $apiKeys);
        return match (true) {
            array_intersect($own, $signers) !== [] => 'body_changed',
            array_intersect($starts($own, 8), $starts($signers, 8)) === [] => 'other_mode',
            array_intersect($starts($own, 11), $starts($signers, 11)) !== [] => 'key_not_listed',
            default => 'wrong_key',
        };
    }

    private function event(): WebhookEvent
    {
        $body = json_decode($this->body, true);
        $event = is_array($body) ? self::eventName($body) : null;
        if ($event === null) {
            throw new WebhookError('unknown_event');
        }
        if (($this->headers['x-service-event'] ?? $event) !== $event) {
            throw new WebhookError('event_mismatch', "the body is of $event");
        }
        $attempt = $this->headers['x-service-attempt'] ?? '1';
        return new WebhookEvent(
            $event,
            $this->headers['webhook-id'],
            $body['sessionId'],
            $body['livemode'],
            preg_match('/^[0-9]{1,9}$/D', $attempt) === 1 ? (int) $attempt : 1,
            (int) $this->headers['webhook-timestamp'],
            $body,
        );
    }

    /**
     * From the body, because the signature does not cover the header `X-Service-Event`.
     *
     * @param array<string, mixed> $body
     */
    private static function eventName(array $body): ?string
    {
        if (!is_string($body['sessionId'] ?? null) || !is_bool($body['livemode'] ?? null)) {
            return null;
        }
        if (in_array($body['flowStatus'] ?? null, ['COMPLETED', 'CANCELLED', 'EXPIRED'], true)) {
            return 'age.session.' . strtolower($body['flowStatus']);
        }
        if (in_array($body['type'] ?? null, ['ENROLL', 'SIGN-IN', 'VERIFY'], true)) {
            return ($body['status'] ?? null) === 'SUCCESS' ? 'verification.succeeded' : 'verification.failed';
        }
        return null;
    }

    /** What a signature covers: the id too, which `X-Service-Signature` leaves out. */
    private function signed(string $body): string
    {
        return "{$this->headers['webhook-id']}.{$this->headers['webhook-timestamp']}.$body";
    }

    /** @return list<string> */
    private function signatures(): array
    {
        return array_slice(explode(' ', $this->headers['webhook-signature']), 0, self::SIGNATURES_MAX);
    }

    /** The body as the service would write it, if it is JSON: shows whether it was parsed and printed with other spaces or escapes. */
    private static function compact(string $body): ?string
    {
        $read = json_decode($body);
        $text = json_encode($read, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        return $read === null || $text === false ? null : $text;
    }
}
