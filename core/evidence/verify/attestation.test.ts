import { expect, test } from 'vitest';
import { readAttestation } from './attestation.ts';

test('a list of more files than evidence has is refused as a whole, not file by file', () => {
  const envelope = {
    payloadType: 'application/vnd.in-toto+json',
    payload: '',
    signatures: [{ keyid: '', sig: '' }],
    digestAlgorithm: 'SHA256',
    files: Array(1_000_000).fill(0),
    bundleDigest: 'a'.repeat(64),
    publicKeyFingerprint: 'a'.repeat(64),
    generatedAt: '',
    evidenceId: '',
  };
  const { files, findings } = readAttestation(JSON.stringify(envelope), new Uint8Array(32));
  expect(files).toEqual([]);
  expect(findings).toEqual([{ code: 'attestation', message: expect.stringMatching(/files: Too big.*2000/) }]);
});
