<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * Area C: `$client->age`. Bodies and results have the names of the wire (docs/api/age.md); a newer service may add fields.
 *
 * @phpstan-type AgeResult array{token: string, sessionId: string, status: string, flowStatus: ?string, result: array<string, mixed>,
 *     metadata: array<string, mixed>, riskEvaluation: array{score: float, level: string, recommendation: string}, errors: list<int>,
 *     outcome: ?string, assurance: array{level: string, method: string}, livemode: bool}
 */
final class AgeSessions extends SessionCalls
{
    private const WAIT_SECONDS_MAX = 25;
    private const ANSWER_SECONDS = 10;

    /**
     * @param array<string, mixed> $body `redirectUrl` and `ageThreshold`, and what docs/api/age.md lists.
     * @param string|null $idempotencyKey One of your own makes the call repeatable across restarts of your program.
     * @param string|null $bearer A token of your identity provider for the user, if the tenant has one configured.
     */
    public function create(array $body, ?string $idempotencyKey = null, ?string $bearer = null): CreatedAgeSession
    {
        if (isset($body['metadata'])) {
            $body['metadata'] = Json::asObject($body['metadata']);
        }
        if (isset($body['callback']['headers'])) {
            $body['callback']['headers'] = Json::asObject($body['callback']['headers']);
        }
        $headers = self::idempotency($idempotencyKey) + ($bearer === null ? [] : ['authorization' => "Bearer $bearer"]);
        $reply = $this->http->send(new Call('POST', '/session', makeBody: static fn() => $body, headers: $headers));
        $made = $reply->body;
        return new CreatedAgeSession(
            $made['token'],
            $made['launchUrl'],
            $made['sessionId'],
            $made['expiresAt'],
            $made['livemode'],
            $reply->warnings,
        );
    }

    /**
     * `flowStatus` is null until the flow has ended.
     *
     * @param int $wait Seconds, at most 25, to hold the answer back until then.
     * @return AgeResult
     */
    public function result(string $token, int $wait = 0): array
    {
        $query = $wait === 0 ? [] : ['wait' => $wait];
        return $this->http->send(new Call('GET', self::path($token) . '/result', $query, timeout: $wait + self::ANSWER_SECONDS))->body;
    }

    /**
     * Asks until the flow has ended. If the time runs out first, it returns the unfinished result: check `flowStatus`.
     *
     * @return AgeResult
     */
    public function waitForResult(string $token, int $timeout = 900): array
    {
        $endsAt = hrtime(true) / 1e9 + $timeout;
        for (;;) {
            $left = $endsAt - hrtime(true) / 1e9;
            $found = $this->result($token, (int) max(0, min(self::WAIT_SECONDS_MAX, $left)));
            if ($found['flowStatus'] !== null || hrtime(true) / 1e9 >= $endsAt) {
                return $found;
            }
            usleep(1_000_000);
        }
    }

    /**
     * Whether somebody may buy: the check was completed, the age is at or above the threshold, and the recommendation is `ALLOW`. Everything
     * else is a no: `REVIEW` is for a person of yours to look at.
     *
     * @param array<string, mixed> $result A result, or the body of a webhook.
     */
    public static function isOldEnough(array $result): bool
    {
        return ($result['flowStatus'] ?? null) === 'COMPLETED'
            && in_array($result['status'] ?? null, ['AGE_AT_THRESHOLD', 'AGE_ABOVE_THRESHOLD'], true)
            && ($result['riskEvaluation']['recommendation'] ?? null) === 'ALLOW';
    }

    /** @return array<string, mixed> The state of the flow, without the result. */
    public function get(string $token): array
    {
        return $this->http->send(new Call('GET', self::path($token)))->body;
    }

    /** @return AgeResult */
    public function cancel(string $token): array
    {
        return $this->cancelAt(self::path($token), fn() => $this->result($token));
    }

    /**
     * Takes the `code` that a browser has brought back, once: `CODE_USED` or `CODE_WRONG` (409) otherwise.
     *
     * @return array<string, mixed>
     */
    public function confirm(string $token, string $code, ?string $idempotencyKey = null): array
    {
        return $this->confirmAt(self::path($token), $code, $idempotencyKey);
    }

    /** Erases result and metadata of an ended session before its retention period ends. */
    public function erase(string $token): void
    {
        $this->http->send(new Call('DELETE', self::path($token)));
    }

    /**
     * @param array<string, mixed> $filters `state`, `since`, `until` (DateTimeInterface or text), `limit`, `cursor`, and `metadata`: keeps
     *     sessions that have these values at the top level of theirs.
     */
    public function list(array $filters = []): Page
    {
        if (isset($filters['metadata'])) {
            $filters['metadata'] = Json::encode(Json::asObject($filters['metadata']));
        }
        return $this->pageOf('/sessions', $filters);
    }

    /**
     * Every session, page by page, newest first.
     *
     * @param array<string, mixed> $filters Those of `list`.
     * @return \Generator<int, array<string, mixed>>
     */
    public function all(array $filters = []): \Generator
    {
        return Page::all(fn(?string $cursor) => $this->list(['cursor' => $cursor] + $filters));
    }

    private static function path(string $token): string
    {
        return '/session/' . rawurlencode($token);
    }
}
