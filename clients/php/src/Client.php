<?php

declare(strict_types=1);

namespace Ostiary;

/** The client of one installation. For servers: an API key must not be in a browser. */
final class Client
{
    public readonly AgeSessions $age;
    public readonly VerificationSessions $verification;
    public readonly Node $node;
    public readonly Deliveries $webhooks;
    public readonly Events $events;
    public readonly TestMode $test;
    private readonly Http $http;

    /**
     * @param string|null $clientId Area D's client credentials, which live keys need. The token is fetched and kept.
     * @param float $timeout Seconds, for each attempt: to connect, and between two parts of an answer.
     * @param int $maxRetries Further attempts after a lost connection, 408, 429, 500, 502, 503 or 504.
     * @param float $maxWait Seconds. A call that would have to wait longer for its next attempt fails at once.
     * @param (callable(OstiaryError, int, float): void)|null $onRetry Gets the failure, the number of the attempt that failed, and the
     *     seconds until the next one.
     * @param (callable(ConfigWarning): void)|null $onWarning
     * @param callable|null $transport Instead of PHP's streams, with the signature of `StreamTransport`.
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] ?string $apiKey = null,
        ?string $clientId = null,
        #[\SensitiveParameter] ?string $clientSecret = null,
        float $timeout = 10.0,
        int $maxRetries = 3,
        float $maxWait = 20.0,
        ?callable $onRetry = null,
        ?callable $onWarning = null,
        bool $logWarnings = true,
        ?callable $transport = null,
    ) {
        if ($transport === null && !filter_var(ini_get('allow_url_fopen'), FILTER_VALIDATE_BOOL)) {
            throw OstiaryError::invalid('allow_url_fopen is off: switch it on in php.ini, or give a transport of your own');
        }
        $options = new Options(
            $timeout,
            $maxRetries,
            $maxWait,
            \Closure::fromCallable($transport ?? new StreamTransport()),
            $onRetry === null ? null : \Closure::fromCallable($onRetry),
            $onWarning === null ? null : \Closure::fromCallable($onWarning),
            $logWarnings,
        );
        $headers = $apiKey === null ? [] : ['x-api-key' => Arguments::apiKey($apiKey)];
        $this->http = new Http(Arguments::baseUrl($baseUrl), $headers, $options);
        $hasCredentials = $clientId !== null || $clientSecret !== null;
        $this->age = new AgeSessions($this->http);
        $asClient = $hasCredentials ? new Credentials($this->http, $clientId ?? '', $clientSecret ?? '') : $this->http;
        $this->verification = new VerificationSessions($asClient);
        $this->node = new Node($this->http, $apiKey);
        $this->webhooks = new Deliveries($this->http);
        $this->events = new Events($asClient);
        $this->test = new TestMode($this->http);
    }

    /** @return array<string, mixed> What the installation is: name, version, areas. */
    public function describe(): array
    {
        return $this->http->send(new Call('GET', '/'))->body;
    }

    /** @return array<string, mixed> For a degraded service too: look at `status`. */
    public function health(): array
    {
        return $this->http->send(new Call('GET', '/health', alsoOk: [503]))->body;
    }

    /**
     * The public keys of a tenant's webhooks: see `Webhook::fetchKeys()`.
     *
     * @return list<array<string, string>>
     */
    public function webhookKeys(string $tenantId, string $mode = 'live'): array
    {
        $path = '/.well-known/ostiary-webhook-keys/' . rawurlencode($tenantId) . '.json';
        return $this->http->send(new Call('GET', $path, ['mode' => $mode]))->body['keys'];
    }
}
