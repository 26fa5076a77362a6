<?php

declare(strict_types=1);

namespace Ostiary;

/** An envelope of area E that does not open: damaged, made with another key, or for another purpose. */
final class EnvelopeError extends \RuntimeException
{
}
