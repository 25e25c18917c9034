import type { Command } from 'commander';
import { type EvidenceReport, verifyArchive } from '../core/evidence/verify/verify-archive.ts';
import { type Answer, answering } from './answer.ts';
import { type ExportOptions, exportEvidence } from './evidence-export.ts';
import { openEvidence } from './evidence-file.ts';
import { fingerprintIn, fingerprintOf } from './evidence-keys.ts';
import { CliError, EXIT } from './exit.ts';
import { MOMENT_FORMS } from './moments.ts';
import { servedKeys } from './served-log.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { originIn, storedStatesOf } from './stored-log-states.ts';
import { storedLog } from './stored-logs.ts';
import { withTarget } from './target.ts';

interface VerifyOptions extends Pick<TargetOptions, 'server'> {
  readonly key: readonly string[];
  readonly trustBundled?: boolean;
  readonly configDir?: string;
}

/** A quarter, as auditors ask. */
const DEFAULT_PERIOD = '90d';

/** `mesh evidence`: what an auditor is given, and whether it is what was signed. */
export function defineEvidence(evidence: Command): void {
  answering(
    withTarget(
      evidence.command('export').description('assess a period, or take an assessment, and write its evidence as a ZIP'),
    )
      .argument('[framework]', 'pci-dss, soc2 or hipaa; or give --id')
      .option('--id <id>', 'evidence_id of a stored assessment')
      .option('--from <moment>', `begin of the period: ${MOMENT_FORMS} (${DEFAULT_PERIOD})`)
      .option('--to <moment>', 'end of the period, likewise (now)')
      .option('--output <file>', 'file or directory (the name that the control plane gives, here)')
      .option('--force', 'replace the file that is there'),
    (framework: string | undefined, options: ExportOptions) =>
      exportEvidence(framework, {
        ...options,
        from: options.from ?? (options.id === undefined ? DEFAULT_PERIOD : undefined),
      }),
  );
  answering(
    evidence
      .command('verify')
      .description('verify an archive of evidence; needs no server')
      .argument('<file>', 'the ZIP')
      .option(
        '--key <key>',
        'fingerprint, key or file of a key that may have signed it; more than once for several',
        (key: string, keys: string[]) => [...keys, key],
        [],
      )
      .option('--server <url>', 'trust the keys that this control plane names')
      .option('--config-dir <dir>', 'hold it against what the node of this directory kept of the log (~/.mesh)')
      .option('--trust-bundled', 'trust the key in the archive: then anyone may have made it'),
    async (file: string, options: VerifyOptions) => answerOf(file, await verify(file, options)),
  );
}

async function verify(file: string, options: VerifyOptions): Promise<EvidenceReport> {
  const archive = await openEvidence(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EACCES' || error.code === 'EISDIR') {
      throw new CliError(`Cannot read ${file}: ${error.message}`, EXIT.input);
    }
    return error;
  });
  if (archive instanceof Error) return damaged(file, archive);
  try {
    const origin = await originIn(archive);
    const trusted = options.trustBundled ? undefined : await trustedKeys(options, origin);
    const seen = storedStatesOf(origin, options.configDir);
    const report = await verifyArchive(archive, (fingerprint) => trusted?.has(fingerprint) ?? true, seen);
    const whose = trusted?.get(report.fingerprint) ?? 'the key that came with it, for none was given';
    const signed = `Signed by ${report.fingerprint}: ${whose}.`;
    const advice =
      'Compare the fingerprint with what the operator shows you (mesh admin get-audit-keys), or give it by --key.';
    const unseen =
      'This machine keeps nothing of its log, against which it could be held: mesh audit verify keeps what it verified.';
    const notes = [...report.notes, signed, ...(seen.length === 0 ? [unseen] : []), ...(trusted ? [] : [advice])];
    return { ...report, notes };
  } finally {
    archive.close();
  }
}

/** Fingerprints, with whose key each is. Keys that are given count alone; else those of the last `mesh audit verify`, and of the server named. */
async function trustedKeys(
  { key, server }: VerifyOptions,
  origin: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (key.length > 0) return new Map(key.map((one) => [fingerprintIn(one), 'the key given by --key']));
  const kept = origin === undefined ? undefined : storedLog(origin)?.key;
  const served = server === undefined ? [] : await servedKeys(targetOf({ server }));
  const keys = [
    ...served.map(({ publicKey }) => [fingerprintOf(publicKey), `a key that ${server} names`] as const),
    ...(kept === undefined
      ? []
      : [[fingerprintOf(kept), `the key of the log ${origin} that was verified here`] as const]),
  ];
  if (keys.length > 0) return new Map(keys);
  const message =
    'Nothing says whose key may have signed it. Give --key with the fingerprint that the operator shows you, --server to ask a control plane, or --trust-bundled.';
  throw new CliError(message, EXIT.input);
}

function damaged(file: string, { message }: Error): EvidenceReport {
  const finding = { code: 'damaged', message: `${file} is no whole ZIP archive: ${message.slice(0, 200)}.` } as const;
  return { evidenceId: '', fingerprint: '', checkpoint: undefined, files: 0, findings: [finding], notes: [] };
}

function answerOf(
  file: string,
  { evidenceId, fingerprint, checkpoint, files, findings, notes }: EvidenceReport,
): Answer {
  const verified = findings.length === 0;
  const value = {
    verified,
    file,
    evidence_id: evidenceId,
    key_fingerprint: fingerprint,
    log: checkpoint && {
      origin: checkpoint.origin,
      size: checkpoint.size,
      root: Buffer.from(checkpoint.root).toString('base64'),
    },
    files,
    findings,
    // Notes on agreement appear only where nothing contradicts the log.
    notes: verified ? notes : [],
  };
  const lines = verified ? notes : findings.map(({ message }) => message);
  const head = `${file}: ${evidenceId || 'no evidence'}, ${files} files: ${verified ? 'verified' : 'NOT VERIFIED'}`;
  return {
    value,
    text: [head, ...lines.map((line) => `  ${line}`)],
    ...(!verified && { exitCode: EXIT.negative }),
  };
}
