<?php

declare(strict_types=1);

namespace Ostiary;

/** The version of the API that this client was made for, and its own. */
final class Version
{
    public const NUMBER = '0.1.0';
}
