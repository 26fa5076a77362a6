<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * Calls with time-outs and retries.
 *
 * @internal
 */
final class Http implements Sender
{
    private const RETRIED = [0, 408, 429, 500, 502, 503, 504];
    private const FIRST_DELAY_SECONDS = 0.25;
    private const LONGEST_DELAY_SECONDS = 8.0;

    /** @var array<string, true> */
    private array $logged = [];

    /** @param array<string, string> $headers */
    public function __construct(
        private readonly string $baseUrl,
        private readonly array $headers,
        private readonly Options $options,
    ) {
    }

    /**
     * The same without its own headers: the token endpoint does not get the API key.
     *
     * @param array<string, string> $headers
     */
    public function withHeaders(array $headers): self
    {
        return new self($this->baseUrl, $headers, $this->options);
    }

    public function send(Call $call): Reply
    {
        $maybeDone = false;
        for ($attempt = 0; ; $attempt++) {
            try {
                $reply = $this->attempt($call);
                $this->warn($reply->warnings);
                return $reply;
            } catch (OstiaryError $failure) {
                // An earlier attempt may have deleted it, and only the answer was lost.
                if ($maybeDone && $call->method === 'DELETE' && in_array($failure->status, [404, 410], true)) {
                    return new Reply([], []);
                }
                $delay = self::delayBefore($attempt, $failure->retryAfter);
                if ($attempt >= $this->options->maxRetries || !self::isRetried($call, $failure) || $delay > $this->options->maxWait) {
                    throw $failure;
                }
                // Only a call that hit the rate limit certainly did nothing.
                if ($failure->status !== 429) {
                    $maybeDone = true;
                    ($call->onMaybeDone ?? static fn() => null)();
                }
                ($this->options->onRetry ?? static fn() => null)($failure, $attempt + 1, $delay);
                usleep((int) round($delay * 1_000_000));
            }
        }
    }

    private function attempt(Call $call): Reply
    {
        $headers = $call->headers + $this->headers + [
            'accept' => 'application/json',
            'x-client' => 'ostiary-php/' . Version::NUMBER,
        ];
        foreach ($headers as $value) {
            // A line break would begin another header.
            if (preg_match('/[^\x20-\x7e]/', $value) === 1) {
                throw OstiaryError::invalid('An idempotency key or bearer token must be printable ASCII, without line breaks');
            }
        }
        $body = $call->makeBody === null ? null : ($call->makeBody)();
        if (is_string($body)) {
            $headers['content-type'] = 'application/x-www-form-urlencoded';
        } elseif ($body !== null) {
            $headers['content-type'] = 'application/json';
            $body = Json::encode($body);
        }
        $query = http_build_query($call->query);
        $url = $this->baseUrl . $call->path . ($query === '' ? '' : "?$query");
        $answer = ($this->options->transport)($call->method, $url, $headers, $body, $call->timeout ?? $this->options->timeout);
        return self::read($call, $answer['status'], $answer['headers'], $answer['body']);
    }

    /** @param array<string, string> $headers */
    private static function read(Call $call, int $status, array $headers, string $text): Reply
    {
        $hint = preg_match('/^[0-9]{1,9}$/D', $headers['retry-after'] ?? '') === 1 ? (int) $headers['retry-after'] : null;
        $body = $text === '' ? [] : json_decode($text, true);
        if (!is_array($body)) {
            $message = 'The answer is not JSON: is baseUrl the address of Ostiary?';
            throw new OstiaryError($message, $status, 'NOT_JSON', retryAfter: $hint);
        }
        if (($status >= 200 && $status < 300) || in_array($status, $call->alsoOk, true)) {
            return new Reply($body, ConfigWarning::listIn($headers['x-config-warning'] ?? ''));
        }
        throw self::errorOf($status, $body, $headers, $hint);
    }

    /**
     * A proxy may answer JSON of its own: a field of another type than ours counts as absent.
     *
     * @param array<string, mixed> $body
     * @param array<string, string> $headers
     */
    private static function errorOf(int $status, array $body, array $headers, ?int $hint): OstiaryError
    {
        $text = static fn(string $name): ?string => is_string($body[$name] ?? null) ? $body[$name] : null;
        $number = static fn(string $name): ?int => is_int($body[$name] ?? null) ? $body[$name] : null;
        return new OstiaryError(
            $text('message') ?? $text('error_description') ?? "The service answered $status",
            $status,
            $text('code') ?? $text('error') ?? 'UNKNOWN',
            $text('requestId') ?? $headers['x-request-id'] ?? null,
            is_array($body['details'] ?? null) ? $body['details'] : [],
            $number('retryAfter') ?? $hint,
            $number('status'),
        );
    }

    private static function isRetried(Call $call, OstiaryError $failure): bool
    {
        if ($failure->errorCode === 'INVALID_OPTION') {
            return false;
        }
        return $failure->status === 429 || ($call->repeatable && in_array($failure->status, self::RETRIED, true));
    }

    /** Seconds. The random part keeps clients that failed together from coming back together. */
    private static function delayBefore(int $attempt, ?int $retryAfter): float
    {
        $random = random_int(0, 1_000_000) / 1_000_000;
        if ($retryAfter !== null) {
            return $retryAfter * (1 + $random / 10);
        }
        return $random * min(self::FIRST_DELAY_SECONDS * 2 ** $attempt, self::LONGEST_DELAY_SECONDS);
    }

    /** @param list<ConfigWarning> $warnings */
    private function warn(array $warnings): void
    {
        foreach ($warnings as $warning) {
            ($this->options->onWarning ?? static fn() => null)($warning);
            // A busy shop gets the same warning with every session: one line of each process says it.
            if (!isset($this->logged[(string) $warning]) && $this->options->logWarnings) {
                error_log("ostiary: $warning (docs/api/age.md says what this warning means)");
            }
            $this->logged[(string) $warning] = true;
        }
    }
}
