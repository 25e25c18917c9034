import { type Checkpoint, openCheckpoint, readCheckpoint } from '../../audit/checkpoint.ts';
import { keyFingerprint, parsePublicKeyPem } from '../../audit/dsse.ts';
import { formatInstant } from '../../base/time.ts';
import { type FileDigest, manifestOf } from '../attestation.ts';
import { ASSESSMENT_PATH, ATTESTATION_PATH, CHECKPOINT_PATH, KEY_PATH, LAYOUT, MANIFEST_PATH } from '../layout.ts';
import { checkAssessment } from './assessment.ts';
import { type AttestationContents, readAttestation } from './attestation.ts';
import { CheckedFiles } from './checked-files.ts';
import type { ArchiveReader, EvidenceFinding } from './findings.ts';
import { checkRawFiles } from './raw-files.ts';
import type { StoredLog } from './stored-log.ts';

/** Paths that lead out of a directory, or that programs read differently. */
const SAFE_PATH = /^(?:[A-Za-z0-9_()][A-Za-z0-9._()-]*\/)*[A-Za-z0-9_()][A-Za-z0-9._()-]*$/;

function nameFindings(names: readonly string[]): EvidenceFinding[] {
  const seen = new Set<string>();
  return names.flatMap((name): EvidenceFinding[] => {
    const shown = JSON.stringify(name.slice(0, 200));
    if (!SAFE_PATH.test(name))
      return [
        { code: 'path', message: `The entry ${shown} has a name that no archive of evidence has: do not unpack it.` },
      ];
    const folded = name.toLowerCase();
    if (seen.has(folded))
      return [
        { code: 'duplicate', message: `The entry ${shown} is there twice, or beside one that differs in case alone.` },
      ];
    seen.add(folded);
    return [];
  });
}

/** The result of verifying an archive. */
export interface EvidenceReport {
  readonly evidenceId: string;
  /** SHA-256 of the key in the archive; empty where there is none. */
  readonly fingerprint: string;
  /** The checkpoint of the log; undefined where it is not signed. */
  readonly checkpoint: Checkpoint | undefined;
  readonly files: number;
  readonly findings: readonly EvidenceFinding[];
  /** Additional notes for people. */
  readonly notes: readonly string[];
}

/**
 * Verifies an archive by itself, without a server. Whatever cannot be read is a finding.
 *
 * @param isTrusted whether a key of this fingerprint may have signed it
 * @param seen what is kept of the log of its workspace, whatever its name: the log of the archive has to agree with it
 */
export async function verifyArchive(
  archive: ArchiveReader,
  isTrusted: (fingerprint: string) => boolean,
  seen: readonly StoredLog[] = [],
): Promise<EvidenceReport> {
  const check = new ArchiveCheck(archive);
  const findings = check.findings;
  findings.push(...nameFindings(archive.names));
  const publicKey = parsePublicKeyPem((await check.text(KEY_PATH)) ?? '');
  const fingerprint = publicKey ? keyFingerprint(publicKey) : '';
  if (!publicKey) findings.push({ code: 'signature', message: `${KEY_PATH} is no Ed25519 key.` });
  else if (!isTrusted(fingerprint)) {
    const message = `The archive is signed by ${fingerprint}, which is not a key that is trusted: ask the operator for theirs.`;
    findings.push({ code: 'untrusted_key', message });
  }
  const attestation = await check.text(ATTESTATION_PATH);
  const attested = publicKey && attestation !== undefined ? readAttestation(attestation, publicKey) : undefined;
  findings.push(...(attested?.findings ?? []));
  const files = attested?.files ?? [];
  if (files.length > 0) await check.namesAgainst(files);
  check.layout(LAYOUT);
  const period = await check.assessment(attested, archive);
  const checkpoint = publicKey && (await check.checkpoint(publicKey));
  const raw = await checkRawFiles(check, { checkpoint, evidenceId: attested?.evidenceId ?? '', period, seen });
  await check.digests(files, raw);
  return {
    evidenceId: attested?.evidenceId ?? '',
    fingerprint,
    checkpoint,
    files: files.length,
    findings,
    notes: check.notes,
  };
}

class ArchiveCheck extends CheckedFiles {
  async namesAgainst(files: readonly FileDigest[]): Promise<void> {
    const signed = new Set(files.map(({ path }) => path));
    for (const path of signed) this.isThere(path, `${path} was signed and is missing.`);
    for (const name of this.names) {
      if (name === ATTESTATION_PATH || signed.has(name)) continue;
      this.findings.push({ code: 'extra', message: `${JSON.stringify(name.slice(0, 200))} was not signed.` });
    }
    const manifest = await this.text(MANIFEST_PATH);
    if (manifest === undefined || manifest === manifestOf(files.filter(({ path }) => path !== MANIFEST_PATH))) return;
    this.findings.push({ code: 'manifest', message: `${MANIFEST_PATH} does not list what was signed.` });
  }

  /** Reports the files that are neither present nor signed: the signer left them out. */
  layout(paths: readonly string[]): void {
    for (const path of paths) this.isThere(path, `${path} is missing: every such archive has it.`);
  }

  /** @returns the period that was assessed, where that can be read; ISO 8601 */
  async assessment(
    attested: AttestationContents | undefined,
    archive: Pick<ArchiveReader, 'isOf'>,
  ): Promise<{ start: string; end: string } | undefined> {
    const text = await this.text(ASSESSMENT_PATH);
    if (text === undefined || !attested) return undefined;
    const { controls, period, at, findings, notes } = checkAssessment(text, attested);
    this.findings.push(...findings);
    if (at !== undefined && !archive.isOf(at)) {
      const message = `The files of the archive have another time than ${formatInstant(at)}, that of ${ASSESSMENT_PATH}.`;
      this.findings.push({ code: 'changed', message });
    }
    this.notes.push(...notes);
    this.layout(controls);
    return period;
  }

  async checkpoint(publicKey: Uint8Array): Promise<Checkpoint | undefined> {
    const note = await this.text(CHECKPOINT_PATH);
    if (note === undefined) return undefined;
    const name = readCheckpoint(note)?.origin ?? '';
    const opened = openCheckpoint(note, [{ name, publicKey }]);
    if (!opened)
      this.findings.push({
        code: 'checkpoint',
        message: `${CHECKPOINT_PATH} is not signed by the key in ${KEY_PATH}.`,
      });
    return opened;
  }

  /** Compares the digests of all signed files; those of raw data are already known. */
  async digests(files: readonly FileDigest[], known: ReadonlyMap<string, string>): Promise<void> {
    const digests = new Map<string, string | undefined>(known);
    for (const { path, sha256 } of files) {
      if (!this.names.has(path)) continue;
      if (!digests.has(path)) digests.set(path, await this.digest(path));
      const digest = digests.get(path);
      if (digest === undefined || digest === sha256) continue;
      this.findings.push({ code: 'changed', message: `${path} is not the file that was signed.` });
    }
  }
}
