<?php

declare(strict_types=1);

namespace Ostiary;

/** Area E, the biometric node: `$client->node`. Features are encrypted on the way, and so are the ids in answers. */
final class Node
{
    private const DEFAULT_VERSION = 'FACE3_1';
    private const HEADERS = ['x-encryption-version' => '1'];

    public function __construct(private readonly Sender $http, #[\SensitiveParameter] private readonly ?string $apiKey)
    {
    }

    /**
     * Returns when the key may be used on this area; throws the reason otherwise.
     *
     * @return array{status: int, message: string}
     */
    public function checkKey(): array
    {
        return $this->http->send(new Call('POST', '/node/api-key/checkApiKeyValid', makeBody: static fn() => new \stdClass()))->body;
    }

    /**
     * Enrols the face that 1 to 10 vectors of one person describe, or finds who has it.
     *
     * @param list<list<float>> $vectors
     */
    public function enroll(array $vectors, string $version = self::DEFAULT_VERSION, ?string $metadataId = null): Enrolled
    {
        $more = $metadataId === null ? [] : ['metadata' => ['id' => $metadataId]];
        $reply = $this->sendFeatures('enroll', $vectors, $version, $more);
        return new Enrolled(
            $this->open('puid', $reply),
            $this->open('guid', $reply),
            $reply['enroll_level'],
            $reply['message'] === 'Ok',
        );
    }

    /**
     * The candidates, best first; an empty list when nobody who is enrolled has this face.
     *
     * @param list<list<float>> $vectors
     * @return list<Candidate>
     */
    public function predict(
        array $vectors,
        string $version = self::DEFAULT_VERSION,
        ?int $k = null,
        ?string $userIdentifier = null,
    ): array {
        $more = array_filter(['K' => $k, 'user_identifier' => $userIdentifier], static fn($value) => $value !== null);
        $reply = $this->sendFeatures('predict', $vectors, $version, $more);
        if ($reply['status'] !== 0) {
            return [];
        }
        $isReplay = $reply['replay'] ?? false;
        return array_map(
            fn(array $row) => new Candidate($this->open('puid', $row), $this->open('guid', $row), (float) $row['score'], $isReplay),
            $reply['PI_list'] ?? [$reply],
        );
    }

    /**
     * Deletes a user with all biometric data, by `puid` or by the `metadataId` given at enrolment. False when there was no such user; true when
     * a lost attempt deleted it.
     */
    public function deleteUser(?string $puid = null, ?string $metadataId = null): bool
    {
        $wasLost = false;
        $version = self::DEFAULT_VERSION;
        $reply = $this->http->send(new Call(
            'POST',
            "/node/$version/deleteUser",
            makeBody: fn() => $puid === null
                ? ['metadata' => ['id' => $metadataId]]
                : ['puid' => Envelope::seal($this->key(), 'deleteUser', $version, $puid)],
            headers: self::HEADERS,
            alsoOk: [400],
            onMaybeDone: static function () use (&$wasLost): void {
                $wasLost = true;
            },
        ))->body;
        if (!in_array($reply['status'], [200, 400], true)) {
            throw new OstiaryError($reply['message'], 400, nodeStatus: $reply['status']);
        }
        return $reply['status'] === 200 || $wasLost;
    }

    /**
     * @param list<list<float>> $vectors
     * @param array<string, mixed> $more
     * @return array<string, mixed>
     */
    private function sendFeatures(string $op, array $vectors, string $version, array $more): array
    {
        $features = array_map(static fn(array $vector) => ['type' => 'face', 'embedding_vector' => $vector], $vectors);
        $text = Json::encode($features);
        // Each attempt gets a new envelope: the service accepts each one only once.
        $makeBody = fn() => ['features' => Envelope::seal($this->key(), $op, $version, $text)] + $more;
        $path = '/node/' . rawurlencode($version) . "/$op";
        return $this->http->send(new Call('POST', $path, makeBody: $makeBody, headers: self::HEADERS))->body;
    }

    /** @param array<string, mixed> $row */
    private function open(string $name, array $row): string
    {
        return Envelope::open($this->key(), $row[$name], $name);
    }

    private function key(): string
    {
        return $this->apiKey ?? throw OstiaryError::invalid('Area E needs an API key: new Client($baseUrl, $apiKey)');
    }
}
