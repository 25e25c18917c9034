import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { readCheckpoint } from '../core/audit/checkpoint.ts';
import { contradiction, type Finding, type LogReport, type StoredLogState, stateText } from '../core/audit/findings.ts';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { formatInstant } from '../core/base/time.ts';
import { verifyArchive } from '../core/evidence/verify/verify-archive.ts';
import { type Answer, answering } from './answer.ts';
import type { AuditStore, CommandContext } from './command-context.ts';
import { openEvidence } from './evidence-file.ts';
import { fingerprintOf, keyIn } from './evidence-keys.ts';
import { CliError, EXIT } from './exit.ts';
import { checkSignature, keyText } from './log-signature.ts';
import { type NodeOfLog, nodeOfLog } from './node-log.ts';
import { readServedLog, type ServedLog, servedKeys, signerOf } from './served-log.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { originIn } from './stored-log-states.ts';
import {
  requestFile,
  storedLog,
  storedLogs,
  storedOriginAt,
  storeLog,
  type VerifiedLog,
  workspaceOf,
} from './stored-logs.ts';
import { withTarget } from './target.ts';

interface VerifyOptions extends TargetOptions {
  readonly installation?: boolean;
  readonly key?: string;
  readonly checkpoint?: string;
  readonly database?: string;
  readonly evidence?: string;
  readonly configDir?: string;
}

/** The result of verifying one log, as it is answered. */
interface Verdict {
  readonly workspace: string;
  readonly verified: boolean;
  readonly entries: number;
  readonly root: string;
  /** The instant of the newest entry. */
  readonly newest: string | null;
  readonly findings: readonly Finding[];
  /** Additional notes for people, a sentence each. */
  readonly notes: readonly string[];
}

/** `mesh audit`: whether the audit log, and the records that it tells of, are what they were. */
export function defineAudit(audit: Command, { loadAuditStore: loadStore }: CommandContext): void {
  answering(
    withTarget(audit.command('verify').description('recompute the log and hold it against what was seen of it before'))
      .option('--installation', 'the log of the installation, in place of that of a workspace')
      .option('--key <key>', 'fingerprint, key or file of the key that must have signed the log')
      .option('--checkpoint <file>', 'a checkpoint kept elsewhere, which the log must hold')
      .option('--evidence <file>', 'an archive of evidence, whose checkpoint the log must hold')
      .option('--database <file>', 'a database file in place of a control plane: its records too')
      .option('--config-dir <dir>', 'as the node of this directory (~/.mesh where nobody is signed in)'),
    async (options: VerifyOptions) => answerOf(await verify(options, loadStore)),
  );
  defineAccept(audit, loadStore);
  answering(
    audit
      .command('rotate-key')
      .description('sign the logs with another key from now on; meshd must not run')
      .requiredOption('--config-dir <dir>', 'that of meshd'),
    async ({ configDir }: { configDir: string }): Promise<Answer> => {
      const publicKey = failing(
        () => loadStore(),
        (store) => store.rotateKey(configDir),
      );
      const value = { publicKey: await publicKey };
      return {
        value,
        text: `The logs are signed by ${value.publicKey} from the next start on. Tell those who verify.`,
      };
    },
  );
}

function defineAccept(audit: Command, loadStore: () => Promise<AuditStore>): void {
  answering(
    audit
      .command('accept')
      .description('sign logs on as they are, after a backup was restored or keys were made anew; meshd must not run')
      .requiredOption('--config-dir <dir>', 'that of meshd')
      .requiredOption('--reason <text>', 'why; it stands in the log')
      .option('--database <file>', 'the file of the store, where it is not mesh.db of the directory'),
    async (options: { configDir: string; reason: string; database?: string }): Promise<Answer> => {
      const reason = options.reason.trim().slice(0, MAX_REASON);
      if (reason === '') throw new CliError('Say by --reason why the logs go on as they are.', EXIT.input);
      const items = await failing(loadStore, (store) => store.accept({ ...options, reason }));
      const lines = items.flatMap(({ workspace, entry, given }) => [
        `${workspace}: entry ${entry} says that this is given up:`,
        ...given.map((line) => `  ${line}`),
      ]);
      const text = items.length === 0 ? 'No log contradicts what was signed of it: nothing was changed.' : lines;
      return { value: { items }, text };
    },
  );
}

const MAX_REASON = 500;

async function verify(options: VerifyOptions, loadStore: () => Promise<AuditStore>): Promise<Verdict[]> {
  const { database } = options;
  const pinned = options.key === undefined ? undefined : await pinnedIn(options.key, options);
  const given = [
    ...(options.checkpoint === undefined ? [] : [checkpointIn(options.checkpoint)]),
    ...(options.evidence === undefined ? [] : [await checkpointInEvidence(options.evidence, options, pinned)]),
  ];
  if (database === undefined) return [await verifyServed(options, pinned, given)];
  const only = options.installation ? 'w_system' : options.workspace;
  const reports = await failing(loadStore, (store) => store.verifyDatabase(database, only));
  if (reports.length === 0) throw new CliError(`${database} has no log ${only ?? 'at all'}.`, EXIT.notFound);
  requireMatchingLog(given, (origin) => reports.some(({ workspace }) => workspaceOf(origin) === workspace), database);
  const kept = storedLogs();
  return reports.map((report) => verdictOnFile(report, ofReport(report, reports, kept), pinned, given));
}

/**
 * Returns the stored states of the log of a report. Every installation has a log named `w_system`. The installation of a file
 * is identified by its checkpoints, and by the logs of its other workspaces, whose names are unique.
 */
function ofReport({ workspace }: LogReport, all: readonly LogReport[], kept: readonly VerifiedLog[]): VerifiedLog[] {
  const own = kept.filter(({ origin }) => workspaceOf(origin) === workspace);
  if (workspace !== SYSTEM_WORKSPACE) return own;
  const names = new Set(all.map((each) => each.workspace).filter((name) => name !== SYSTEM_WORKSPACE));
  const origins = [
    ...all.flatMap(({ checkpoints }) => checkpoints.flatMap(({ note }) => readCheckpoint(note)?.origin ?? [])),
    ...kept.map(({ origin }) => origin).filter((origin) => names.has(workspaceOf(origin))),
  ];
  const installations = new Set(origins.map(installationOf));
  return own.filter(({ origin }) => installations.has(installationOf(origin)));
}

/** A checkpoint that is held against nothing would seem to agree. @throws CliError */
function requireMatchingLog(
  given: readonly CheckpointArgument[],
  isRead: (origin: string) => boolean,
  what: string,
): void {
  const other = given.find(({ origin }) => !isRead(origin));
  if (!other) return;
  const message = `The checkpoint given is of the log ${other.origin}, which is not the one that ${what} has: it was rewritten under another name, or another log is meant.`;
  throw new CliError(message, EXIT.negative);
}

async function verifyServed(
  options: VerifyOptions,
  pinned: string | undefined,
  given: readonly CheckpointArgument[],
): Promise<Verdict> {
  const node = nodeOfLog(options);
  const target = node?.target ?? targetOf(options);
  const place = { server: target.server, asked: options.installation ? 'installation' : (target.workspace ?? '') };
  const log = await readServedLog(target, options.installation ?? false);
  requireMatchingLog(given, (origin) => origin === log.origin, target.server);
  const meant = node?.origin ?? storedOriginAt(place) ?? originOfSame(log.origin);
  const seen = storedLog(meant ?? log.origin);
  const signature = checkSignature(log.note, pinned, node?.kept?.key ?? seen?.key, await servedKeys(target));
  const before = [...(node?.kept ? [node.kept] : []), ...(seen ? [seen] : []), ...given];
  const findings = [
    ...otherLog(log.origin, meant, node ? node.directory : requestFile(place)),
    ...log.findings,
    ...signature.findings,
    ...contradictions(log.leaves, before, log.newest),
  ];
  const verified = findings.length === 0;
  const told = given.flatMap(({ note }) => note ?? []);
  const notes = [`The log is ${log.origin}.`, ...signature.notes, ...notesOn(log, before), ...told, ...refusals(node)];
  if (verified) {
    const at = Date.now();
    notes.push(`Kept for the next time in ${storeLog({ ...log, at, key: signature.key ?? '' }, place)}.`);
  }
  return verdict(workspaceOf(log.origin), log, findings, notes);
}

/** A control plane may have moved, and its address with it; the name of a workspace is nobody else's. */
function originOfSame(origin: string): string | undefined {
  const workspace = workspaceOf(origin);
  if (workspace === SYSTEM_WORKSPACE) return undefined;
  const origins = storedLogs().flatMap((kept) => (workspaceOf(kept.origin) === workspace ? [kept.origin] : []));
  return origins.includes(origin) ? origin : origins[0];
}

function otherLog(origin: string, meant: string | undefined, where: string): Finding[] {
  if (meant === undefined || meant === origin) return [];
  const message = `The log ${origin} is served where ${meant} was seen before. If another control plane was set up there, or its credentials.json was made anew, move ${where} away.`;
  return [{ code: 'other_log', message }];
}

/** Returns a note on a checkpoint that the running node refused: a later, valid answer does not undo the refusal. */
function refusals(node: NodeOfLog | undefined): string[] {
  if (!node?.refused) return [];
  return [`The node refused a checkpoint on ${formatInstant(node.refused.at)}: ${node.refused.message}`];
}

function verdictOnFile(
  report: LogReport,
  kept: readonly StoredLogState[],
  pinned: string | undefined,
  given: readonly CheckpointArgument[],
): Verdict {
  const { workspace, leaves, at, checkpoints } = report;
  const before = [...kept, ...given.filter(({ origin }) => workspaceOf(origin) === workspace)];
  const trusted = pinned === undefined ? [] : [Buffer.from(pinned, 'base64')];
  const unsigned = pinned === undefined ? [] : checkpoints.filter(({ note }) => signerOf(note, trusted) === undefined);
  const findings: Finding[] = [
    ...report.findings,
    ...contradictions(leaves, before, at),
    ...unsigned.map((kept): Finding => {
      const message = `The checkpoint of ${formatInstant(kept.at)} that is kept is not signed by the key given.`;
      return { code: 'signature', message };
    }),
  ];
  const notes = [
    pinned === undefined
      ? 'No key was given, so whose signatures these are was not looked at: mesh admin get-audit-keys shows it for --key.'
      : `Its checkpoints are signed by ${keyText(pinned)}, the key given by --key.`,
    `${report.compared} records and versions were compared with their digests.`,
    report.witnessedFrom === undefined
      ? 'Contents are known from the first entry on.'
      : `Contents are known from ${formatInstant(report.witnessedFrom)} on, when the store was upgraded.`,
    ...before.map((seen) => `${stateText(seen)}: they are all there.`),
    ...(before.length === 0
      ? ['Nothing was seen of this log before: an older database would pass. Give --checkpoint.']
      : []),
  ];
  return verdict(workspace, { ...report, newest: at }, findings, notes);
}

function contradictions(
  leaves: readonly Uint8Array[],
  before: readonly StoredLogState[],
  newest: number | undefined,
): Finding[] {
  return before.flatMap((seen) => contradiction(leaves, seen, newest) ?? []);
}

function notesOn(log: ServedLog, before: readonly StoredLogState[]): string[] {
  return [
    ...(log.hasEntries ? [] : ['Only hashes were read: entries need the scope audit:read.']),
    ...before.map((seen) => `${stateText(seen)}: they are all there.`),
    ...(before.length === 0
      ? ['This machine sees it for the first time: the next verification is held against this one.']
      : []),
  ];
}

function verdict(
  workspace: string,
  log: { readonly leaves: readonly Uint8Array[]; readonly root: Uint8Array; readonly newest: number | undefined },
  findings: readonly Finding[],
  notes: readonly string[],
): Verdict {
  return {
    workspace,
    verified: findings.length === 0,
    entries: log.leaves.length,
    root: Buffer.from(log.root).toString('base64'),
    newest: log.newest === undefined ? null : formatInstant(log.newest),
    findings,
    // Notes on agreement appear only where nothing contradicts the log.
    notes: findings.length === 0 ? notes : [],
  };
}

function answerOf(items: readonly Verdict[]): Answer {
  const verified = items.every((item) => item.verified);
  const text = items.flatMap(({ workspace, entries, root, findings, notes }) => {
    const said = findings.length === 0 ? 'verified' : 'NOT VERIFIED';
    const lines = [...findings.map(({ message }) => message), ...notes];
    return [`${workspace}: ${entries} entries, root ${root}: ${said}`, ...lines.map((line) => `  ${line}`)];
  });
  return { value: { verified, items }, text, ...(!verified && { exitCode: EXIT.negative }) };
}

type CheckpointArgument = StoredLogState & { readonly origin: string; readonly note?: string };

/** @throws CliError */
function checkpointIn(file: string): CheckpointArgument {
  const said = readCheckpoint(readText(file));
  if (!said) throw new CliError(`${file} is no checkpoint: see docs/audit.md#checkpoints.`, EXIT.input);
  return { ...said, by: `Who kept ${file}` };
}

/**
 * Returns the checkpoint of an archive, which has to verify with the given key; without one, with the key that signed the log
 * the last time, or with one that the control plane names.
 */
async function checkpointInEvidence(
  file: string,
  { database, ...target }: VerifyOptions,
  pinned: string | undefined,
): Promise<CheckpointArgument> {
  const archive = await openEvidence(file).catch((error: Error) => {
    throw new CliError(`${file} is no whole archive of evidence: ${error.message}`, EXIT.negative);
  });
  try {
    const kept = storedLog((await originIn(archive)) ?? '')?.key;
    const served = pinned === undefined && database === undefined ? await servedKeys(targetOf(target)) : [];
    // An older key signed what was made before it was changed: the control plane names it still.
    const named = served.map(({ publicKey }) => publicKey);
    const keys = (pinned === undefined ? [kept, ...named] : [pinned]).filter((key) => key !== undefined);
    if (keys.length === 0)
      throw new CliError(`Give --key: nothing says whose key may have signed ${file}.`, EXIT.input);
    const trusted = new Set(keys.map(fingerprintOf));
    const { checkpoint, fingerprint, findings } = await verifyArchive(archive, (key) => trusted.has(key));
    const [fault] = findings;
    const known = pinned ?? kept;
    const isNamedAlone = known === undefined || fingerprintOf(known) !== fingerprint;
    const note = `The evidence ${file} is signed by ${fingerprint}, as the control plane itself says: compare it with what the operator shows you, or give it to mesh evidence verify by --key.`;
    if (checkpoint && !fault) return { ...checkpoint, by: `The evidence ${file}`, ...(isNamedAlone && { note }) };
    throw new CliError(`${file} does not verify: ${fault?.message ?? 'it has no checkpoint.'}`, EXIT.negative);
  } finally {
    archive.close();
  }
}

/**
 * The key itself, base64, of one that was given. By its fingerprint alone it is looked for among those that signed before and
 * those that the control plane names: none of them has to be trusted for that.
 *
 * @throws CliError where none of them is it
 */
async function pinnedIn(given: string, options: VerifyOptions): Promise<string> {
  const { fingerprint, key } = keyIn(given);
  if (key !== undefined) return key;
  const target = options.database === undefined ? (nodeOfLog(options)?.target ?? targetOf(options)) : undefined;
  const served = target ? await servedKeys(target) : [];
  const known = [
    ...served.map(({ publicKey }) => Buffer.from(publicKey).toString('base64')),
    ...storedLogs().map((kept) => kept.key),
  ];
  const found = known.find((one) => one !== '' && fingerprintOf(one) === fingerprint);
  if (found !== undefined) return found;
  const where = target ? `${target.server} names no key` : 'No log that was verified here before was signed by a key';
  const message = `${where} with the fingerprint ${fingerprint}: another key signs, or another control plane is meant. Or give the key itself by --key.`;
  throw new CliError(message, EXIT.negative);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${(error as Error).message}`, EXIT.input);
  }
}

/** Turns a refusal of the files of a control plane into an input error, which the user has to correct. */
async function failing<S, T>(load: () => Promise<S>, work: (loaded: S) => T | Promise<T>): Promise<T> {
  const loaded = await load();
  try {
    return await work(loaded);
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.input);
  }
}

function installationOf(origin: string): string {
  return origin.slice(0, origin.lastIndexOf('/'));
}
