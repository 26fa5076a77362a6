<?php

declare(strict_types=1);

namespace Ostiary;

/** The webhooks that the service has sent: `$client->webhooks`. */
final class Deliveries extends SessionCalls
{
    /** @param array<string, mixed> $filters `state`, `sessionId`, `since`, `limit`, `cursor`. */
    public function list(array $filters = []): Page
    {
        return $this->pageOf('/webhooks/deliveries', $filters);
    }

    /**
     * @param array<string, mixed> $filters Those of `list`.
     * @return \Generator<int, array<string, mixed>>
     */
    public function all(array $filters = []): \Generator
    {
        return Page::all(fn(?string $cursor) => $this->list(['cursor' => $cursor] + $filters));
    }

    /** @return array<string, mixed> With its attempts. */
    public function get(string $deliveryId): array
    {
        return $this->http->send(new Call('GET', self::path($deliveryId)))->body;
    }

    /** @return array<string, mixed> Sends it again, in any state. */
    public function replay(string $deliveryId): array
    {
        return $this->http->send(new Call('POST', self::path($deliveryId) . '/replay'))->body;
    }

    /** Sends all dead deliveries (or `delivered`, or `all`) since a moment again. Returns how many. */
    public function replaySince(\DateTimeInterface $since, string $state = 'dead'): int
    {
        $start = self::momentText($since);
        for ($count = 0; $start !== null; $count += $reply['count']) {
            $body = ['since' => $start, 'state' => $state];
            $reply = $this->http->send(new Call('POST', '/webhooks/replay', makeBody: static fn() => $body))->body;
            $start = $reply['continueFrom'];
        }
        return $count;
    }

    private static function path(string $deliveryId): string
    {
        return '/webhooks/deliveries/' . rawurlencode($deliveryId);
    }
}
