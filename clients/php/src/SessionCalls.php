<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * What areas C and D have in common.
 *
 * @internal
 */
abstract class SessionCalls
{
    public function __construct(protected readonly Sender $http)
    {
    }

    /** @return array<string, string> Made once for a call, so that all its attempts have the same key. */
    protected static function idempotency(?string $key): array
    {
        return ['idempotency-key' => $key ?? bin2hex(random_bytes(16))];
    }

    /**
     * @param \Closure(): array<string, mixed> $read
     * @return array<string, mixed>
     */
    protected function cancelAt(string $path, \Closure $read): array
    {
        $wasLost = false;
        $onMaybeDone = static function () use (&$wasLost): void {
            $wasLost = true;
        };
        try {
            return $this->http->send(new Call('POST', "$path/cancel", onMaybeDone: $onMaybeDone))->body;
        } catch (OstiaryError $error) {
            // Only the answer to an earlier attempt was lost: the session is cancelled, and this is what it answered.
            $found = $wasLost && $error->errorCode === 'SESSION_NOT_OPEN' ? $read() : [];
            if (($found['outcome'] ?? null) !== 'CANCELLED') {
                throw $error;
            }
            return $found;
        }
    }

    /** @return array<string, mixed> */
    protected function confirmAt(string $path, string $code, ?string $idempotencyKey): array
    {
        $makeBody = static fn() => ['code' => $code];
        $call = new Call('POST', "$path/confirm", makeBody: $makeBody, headers: self::idempotency($idempotencyKey));
        return $this->http->send($call)->body;
    }

    /** @param array<string, mixed> $filters */
    protected function pageOf(string $path, array $filters): Page
    {
        foreach (['since', 'until'] as $name) {
            if (($filters[$name] ?? null) instanceof \DateTimeInterface) {
                $filters[$name] = self::momentText($filters[$name]);
            }
        }
        $reply = $this->http->send(new Call('GET', $path, $filters));
        return new Page($reply->body['items'], $reply->body['nextCursor']);
    }

    public static function momentText(\DateTimeInterface $moment): string
    {
        $utc = \DateTimeImmutable::createFromInterface($moment)->setTimezone(new \DateTimeZone('UTC'));
        return $utc->format('Y-m-d\TH:i:s.v\Z');
    }
}
