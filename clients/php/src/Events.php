<?php

declare(strict_types=1);

namespace Ostiary;

/** The stream of events, for development: `$client->events`. In production use webhooks. */
final class Events
{
    private const WAIT_SECONDS = 25;
    private const ANSWER_SECONDS = 10;

    public function __construct(private readonly Sender $http)
    {
    }

    /**
     * Without a cursor: from now on; `start`: from the oldest that is kept.
     *
     * @return array{items: list<array<string, mixed>>, cursor: string}
     */
    public function list(?string $cursor = null, int $wait = 0, ?int $limit = null): array
    {
        $query = ['cursor' => $cursor, 'wait' => $wait === 0 ? null : $wait, 'limit' => $limit];
        return $this->http->send(new Call('GET', '/events', $query, timeout: $wait + self::ANSWER_SECONDS))->body;
    }

    /**
     * Every event from the cursor on. It never ends: stop to iterate when you have what you need. `headers` and `body` of an event are
     * those of a delivery: hand them to `Webhook::receive()`.
     *
     * @return \Generator<int, array<string, mixed>>
     */
    public function stream(?string $cursor = null): \Generator
    {
        for (;;) {
            $page = $this->list($cursor, $cursor === null ? 0 : self::WAIT_SECONDS);
            foreach ($page['items'] as $event) {
                yield $event;
            }
            $cursor = $page['cursor'];
        }
    }
}
