<?php

declare(strict_types=1);

namespace Ostiary;

/** The event of a genuine webhook. */
final class WebhookEvent
{
    /**
     * @param string $event `age.session.completed`, `age.session.cancelled`, `age.session.expired`, `verification.succeeded` or
     *     `verification.failed`: read from the body, which is signed.
     * @param string $id The same in all attempts, and signed: count what comes twice once.
     * @param string $sessionId Compare it with the sessions that you created.
     * @param int $attempt 1 for the first attempt. From a header that is not signed: for logs.
     * @param int $timestamp Unix seconds, when this attempt was signed.
     * @param array<string, mixed> $body The result: docs/api/age.md or verification.md, "The webhook".
     */
    public function __construct(
        public readonly string $event,
        public readonly string $id,
        public readonly string $sessionId,
        public readonly bool $livemode,
        public readonly int $attempt,
        public readonly int $timestamp,
        public readonly array $body,
    ) {
    }
}
