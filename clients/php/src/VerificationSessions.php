<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * Area D: `$client->verification`. Bodies and results have the names of the wire (docs/api/verification.md); a newer service may add fields.
 *
 * @phpstan-type VerificationResult array{sessionId: string, status: string, message: string, type: string, outcome: string,
 *     errors: list<array{code: int, message: string}>, riskEvaluation: array{score: float, level: string, recommendation: string},
 *     puid?: string, guid?: string, codeHash?: ?string, livemode: bool}
 */
final class VerificationSessions extends SessionCalls
{
    /**
     * @param array<string, mixed> $body `type`, `redirectURL` and `callback`, and what docs/api/verification.md lists.
     * @param string|null $idempotencyKey One of your own makes the call repeatable across restarts of your program.
     */
    public function create(array $body, ?string $idempotencyKey = null): CreatedVerification
    {
        if (isset($body['callback']['headers'])) {
            $body['callback']['headers'] = Json::asObject($body['callback']['headers']);
        }
        $headers = self::idempotency($idempotencyKey);
        $reply = $this->http->send(new Call('POST', '/v2/verification-session', makeBody: static fn() => $body, headers: $headers));
        $made = $reply->body;
        return new CreatedVerification(
            $made['launchUrl'],
            $made['sessionId'],
            $made['expiresAt'],
            $made['livemode'],
            $reply->warnings,
        );
    }

    /** @return array<string, mixed> The state of the flow. `outcome` is null until it has ended. */
    public function get(string $sessionId): array
    {
        return $this->http->send(new Call('GET', self::path($sessionId)))->body;
    }

    /**
     * The body of the webhook again, without images. `SESSION_OPEN` (409) until the flow has ended.
     *
     * @return VerificationResult
     */
    public function webhook(string $sessionId): array
    {
        return $this->http->send(new Call('GET', self::path($sessionId) . '/webhook'))->body;
    }

    /** @return VerificationResult */
    public function cancel(string $sessionId): array
    {
        return $this->cancelAt(self::path($sessionId), fn() => $this->webhook($sessionId));
    }

    /**
     * Takes the `code` that a browser has brought back, once: `CODE_USED` or `CODE_WRONG` (409) otherwise.
     *
     * @return array<string, mixed>
     */
    public function confirm(string $sessionId, string $code, ?string $idempotencyKey = null): array
    {
        return $this->confirmAt(self::path($sessionId), $code, $idempotencyKey);
    }

    /** Erases what an ended session holds. The person stays enrolled: `$client->node->deleteUser()` removes them. */
    public function delete(string $sessionId): void
    {
        $this->http->send(new Call('DELETE', self::path($sessionId)));
    }

    /**
     * What counts against a person whose comparisons failed. Needs a key with `verify:lockouts`, as `unlock` does.
     *
     * @return array{locked: bool, retryAfter: int, failures: int, livemode: bool}
     */
    public function lockout(?string $puid = null, ?string $customerId = null): array
    {
        return $this->atLockout('find', $puid, $customerId);
    }

    /**
     * Frees a person who is locked out. Returns the lockout as it was; a second call finds none.
     *
     * @return array{locked: bool, retryAfter: int, failures: int, livemode: bool}
     */
    public function unlock(?string $puid = null, ?string $customerId = null): array
    {
        return $this->atLockout('clear', $puid, $customerId);
    }

    /** @return array{locked: bool, retryAfter: int, failures: int, livemode: bool} */
    private function atLockout(string $action, ?string $puid, ?string $customerId): array
    {
        $person = array_filter(['puid' => $puid, 'customerId' => $customerId], static fn($value) => $value !== null);
        return $this->http->send(new Call('POST', "/v2/verification-lockout/$action", makeBody: static fn() => $person))->body;
    }

    /** @param array<string, mixed> $filters `transactionID`, `state`, `since`, `until` (DateTimeInterface or text), `limit`, `cursor`. */
    public function list(array $filters = []): Page
    {
        return $this->pageOf('/v2/verification-sessions', $filters);
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

    private static function path(string $sessionId): string
    {
        return '/v2/verification-session/' . rawurlencode($sessionId);
    }
}
