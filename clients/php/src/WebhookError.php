<?php

declare(strict_types=1);

namespace Ostiary;

/** A webhook that must not be believed. Answer 400; the service sends it again. */
final class WebhookError extends \RuntimeException
{
    /**
     * Every reason, the same words as in the SDK for TypeScript. What can be known: the signature says only that it does not match; which
     * cause it is follows from the hint at the key (`X-Service-Key`) and a second look at the body. Nobody signs the hint, so a forger can
     * choose the reason; they cannot choose to be accepted.
     */
    public const REASONS = [
        'body_parsed' => 'The body was parsed and written again. Pass the bytes as they came, before any JSON parser',
        'body_changed' => 'A key of yours signed this webhook, but over another body: something on the way changes it',
        'wrong_key' => 'It is signed with a key of another tenant or installation: which API key creates your sessions?',
        'other_mode' => 'It is signed with a key of the other mode: test webhooks need test keys, live webhooks live keys',
        'key_not_listed' => 'It is signed with another key of your tenant: a rotated one that you have dropped, or a new one that you have not added',
        'outside_window' => "The signature is right and its time too far from now: this machine's clock is wrong, or somebody sends an old webhook again",
        'signature_wrong' => 'No key matches, and the webhook does not say which one signed it: a wrong key or a changed body',
        'headers_missing' => 'webhook-id, webhook-timestamp and webhook-signature are not there once each: no webhook of Ostiary, or a proxy drops them',
        'no_key_pair_signature' => "publicKeys demand a signature of the tenant's key pair (v1a), and there is not one",
        'key_pair_wrong' => 'No public key matches the signature of the key pair (v1a): those of the other mode, or of another tenant?',
        'body_too_large' => 'The body is larger than a webhook can be',
        'unknown_event' => 'It is genuine, and its body is not one that this version of the client knows: update the client',
        'event_mismatch' => 'It is genuine, and its header X-Service-Event names another event than its body: something changes headers',
    ];

    /** @param key-of<self::REASONS> $reason For your logs and for the answer; it holds nothing secret. */
    public function __construct(public readonly string $reason, ?string $detail = null)
    {
        parent::__construct(self::REASONS[$reason] . ($detail === null ? '' : " ($detail)"));
    }
}
