<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * Area D's client credentials: an access token is fetched when it is needed and used until shortly before it ends.
 *
 * @internal
 */
final class Credentials implements Sender
{
    /** A token that ends while its call is on the way would be refused. */
    private const EARLY_SECONDS = 30;

    private readonly Http $tokenHttp;
    private ?string $token = null;
    private float $endsAt = 0;

    public function __construct(private readonly Http $http, string $clientId, string $clientSecret)
    {
        if ($clientId === '' || $clientSecret === '') {
            throw OstiaryError::invalid('Client credentials are a clientId and a clientSecret: one of them is missing');
        }
        $basic = base64_encode(rawurlencode($clientId) . ':' . rawurlencode($clientSecret));
        $this->tokenHttp = $http->withHeaders(['authorization' => "Basic $basic"]);
    }

    public function send(Call $call): Reply
    {
        try {
            return $this->http->send($this->authorised($call));
        } catch (OstiaryError $error) {
            if ($error->errorCode !== 'INVALID_CLIENT_CREDENTIALS') {
                throw $error;
            }
        }
        // The token may have ended early, with a change of the master key. A new one is tried once.
        $this->token = null;
        return $this->http->send($this->authorised($call));
    }

    private function authorised(Call $call): Call
    {
        $now = hrtime(true) / 1e9;
        if ($this->token === null || $now >= $this->endsAt) {
            $form = static fn() => 'grant_type=client_credentials';
            $body = $this->tokenHttp->send(new Call('POST', '/oauth/token', makeBody: $form))->body;
            $this->token = (string) $body['access_token'];
            $this->endsAt = $now + $body['expires_in'] - self::EARLY_SECONDS;
        }
        return $call->withHeaders(['authorization' => "Bearer {$this->token}"]);
    }
}
