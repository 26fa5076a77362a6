<?php

declare(strict_types=1);

namespace Ostiary;

/** @internal */
interface Sender
{
    public function send(Call $call): Reply;
}
