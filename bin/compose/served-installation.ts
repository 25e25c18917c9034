import type { LastingHeads, PublicLogKeys } from '../../core/audit/log-keys.ts';
import { missingIn } from '../../core/audit/losses.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { type Store, StoreError } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { credentialsFile, readCredentials } from '../../storage/credentials.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { openStoreReader } from '../../storage/open.ts';
import { ACCEPTED } from '../../storage/sqlite/accept.ts';
import { lossLine, NOTHING_MISSING } from './loss-words.ts';

interface Known {
  readonly configDir: string;
  readonly heads: LastingHeads;
  /** Undefined where the directory has no keys. */
  readonly logs: PublicLogKeys | undefined;
}

/** What a database that servers keep lacks: it can have been set back, as by their own restore. Nothing is written. */
export async function judgeServed(
  store: Pick<Store, 'auditTree' | 'workspaces'>,
  { configDir, heads, logs }: Known,
): Promise<{ readonly losses: Losses; readonly refusal: string | undefined }> {
  if (!logs && heads.all().length > 0) {
    throw new Error(
      `${credentialsFile(configDir)} is not there, and log-heads beside it shows that it was, so nothing was started or changed. Put it back, or name another --config-dir.`,
    );
  }
  if (!logs && (await store.workspaces()).length > 0) {
    throw new Error(
      `${credentialsFile(configDir)} is not there, and the database that MESH_STORE_URL names was written with the keys in it, so nothing was started or changed. Put it there, or name another database.`,
    );
  }
  const losses = logs ? await missingIn(store, heads, logs) : [];
  if (losses.length === 0) return { losses, refusal: undefined };
  const refusal = [
    'the database that MESH_STORE_URL names has less than this installation had, so nothing was started or changed:',
    ...losses.map((loss) => `  - ${lossLine(loss)}`),
    'Name the right database, restore what is missing there, or give it up: meshd --accept-loss',
  ].join('\n');
  return { losses, refusal };
}

type Losses = Awaited<ReturnType<typeof missingIn>>;

/** What is given up, the log says. @throws Error that says what is missing */
export async function requireHeld(
  store: Store,
  { acceptLoss, ...known }: Known & { readonly acceptLoss: boolean },
): Promise<void> {
  const { losses, refusal } = await judgeServed(store, known);
  if (refusal === undefined && acceptLoss) throw new Error(NOTHING_MISSING);
  if (refusal !== undefined && !acceptLoss) throw new Error(refusal);
  for (const loss of losses) {
    const { workspace } = loss;
    const tree = store.auditTree(workspace);
    const [size, [signed]] = [await tree.size(), await tree.checkpoints(1)];
    const detail = { reason: 'meshd --accept-loss', workspace, size, given: [lossLine(loss)] };
    const log = size > 0 ? workspace : SYSTEM_WORKSPACE;
    await store.record(log, [{ type: ACCEPTED, actor: 'system:operator', result: 'ok', detail }]);
    known.heads.giveUp(workspace, signed?.note);
  }
}

/** Why no control plane starts on a database that servers keep, and what to do. */
export async function whyNoStartServed(configDir: string, url: string): Promise<string | undefined> {
  const credentials = readCredentials(configDir);
  const logs = credentials && buildKeyring(credentials).logs;
  const reader = await openStoreReader(url, { log: silentLog, writes: { commit: refuse, record: refuse } });
  try {
    return (await judgeServed(reader, { configDir, heads: headsIn(configDir), logs })).refusal;
  } catch (error) {
    return error instanceof StoreError ? error.subject : (error as Error).message;
  } finally {
    await reader.close();
  }
}

const refuse = () => Promise.reject(new TypeError('What is judged is only read.'));
