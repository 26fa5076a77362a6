<?php

declare(strict_types=1);

namespace Ostiary;

/** One page of a list, newest first. `nextCursor` is null on the last one. */
final class Page
{
    /** @param list<array<string, mixed>> $items */
    public function __construct(public readonly array $items, public readonly ?string $nextCursor)
    {
    }

    /**
     * Every item, one page after the other.
     *
     * @param \Closure(?string): self $read Reads the page after a cursor.
     * @return \Generator<int, array<string, mixed>>
     */
    public static function all(\Closure $read): \Generator
    {
        $cursor = null;
        do {
            $page = $read($cursor);
            foreach ($page->items as $item) {
                yield $item;
            }
            $cursor = $page->nextCursor;
        } while ($cursor !== null);
    }
}
