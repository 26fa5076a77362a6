<?php

declare(strict_types=1);

namespace Ostiary;

/** What test keys can do: `$client->test`. */
final class TestMode
{
    public function __construct(private readonly Sender $http)
    {
    }

    /**
     * Ends a test session without a device. docs/api/age.md and verification.md, "Test mode", have the fields.
     *
     * @param array<string, mixed> $body
     */
    public function outcome(string $sessionId, array $body = []): void
    {
        $this->post('/test/sessions/' . rawurlencode($sessionId) . '/outcome', $body);
    }

    /** Everything that the tenant's test sessions and their webhooks wait for comes nearer by so many seconds. */
    public function advanceClock(int $seconds): void
    {
        $this->post('/test/clock/advance', ['seconds' => $seconds]);
    }

    /** Sends a delivery again and lets its next attempts fail without being sent. */
    public function failDelivery(string $deliveryId, int $times = 1): void
    {
        $path = '/test/webhooks/' . rawurlencode($deliveryId) . '/fail';
        $this->http->send(new Call('POST', $path, ['times' => $times], repeatable: false));
    }

    /** @param array<string, mixed> $body */
    private function post(string $path, array $body): void
    {
        $this->http->send(new Call('POST', $path, makeBody: static fn() => Json::asObject($body), repeatable: false));
    }
}
