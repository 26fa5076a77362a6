/** A certificate for tests, created without external tools. Only tests import this. */
import { generateKeyPairSync, sign } from 'node:crypto'

/** Self-signed, for a name and for 127.0.0.1. */
export function createCertificate(name: string, notAfter = '491231235959Z'): { key: string; cert: string } {
  const der = (tag: number, ...parts: readonly Uint8Array[]) => {
    const content = Buffer.concat(parts)
    const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff]
    return Buffer.concat([Buffer.from([tag, ...length]), content])
  }
  const hex = (text: string) => Buffer.from(text, 'hex')
  const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
  const ecdsaWithSha256 = sequence(hex('06082a8648ce3d040302'))
  const subject = sequence(der(0x31, sequence(hex('0603550403'), der(0x0c, Buffer.from(name)))))
  const validity = sequence(der(0x17, Buffer.from('190101000000Z')), der(0x17, Buffer.from(notAfter)))
  const names = sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = der(0xa3, sequence(sequence(hex('0603551d11'), der(0x04, names))))
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = sequence(
    hex('a003020102'), // version 3
    hex('020101'), // serial number
    ecdsaWithSha256,
    subject, // the issuer
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  )
  const signed = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), sign('sha256', body, privateKey)))
  const lines = signed.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}
