import { StoreError } from '../../../core/base/ports.ts';
import { storeAt } from '../../../storage/open.ts';
import { loadConfig } from '../config.ts';
import { storeUrl } from '../store-url.ts';
import { checkBackup } from './backup.ts';
import { checkBus } from './bus.ts';
import { checkCertificates } from './certificates.ts';
import { type Check, type Diagnosis, type Finding, failed, type Subject } from './check.ts';
import { checkClock } from './clock.ts';
import { checkFiles } from './files.ts';
import { checkIntegrity } from './integrity.ts';
import { checkNetworks } from './networks.ts';
import { checkNodes } from './nodes.ts';
import { checkPorts } from './ports.ts';
import { runsIn } from './running.ts';
import { checkConfiguration, checkSettings } from './settings.ts';
import { checkSpace } from './space.ts';

/** In the order in which one of them explains the next. */
const CHECKS: Readonly<Record<string, Check>> = {
  configuration: checkConfiguration,
  files: checkFiles,
  database: checkIntegrity,
  settings: checkSettings,
  space: checkSpace,
  backup: checkBackup,
  clock: checkClock,
  certificates: checkCertificates,
  ports: checkPorts,
  bus: checkBus,
  networks: checkNetworks,
  nodes: checkNodes,
};

/** The checks that read the store. They are skipped while its servers are unreachable, which the first check reports. */
const READS_STORE: ReadonlySet<string> = new Set(['settings', 'networks', 'nodes']);

/** Looks at an installation, whether a control plane runs in it or not, and repairs what nobody could miss. */
export async function examine(configDir: string, now = Date.now()): Promise<Diagnosis> {
  const items: Diagnosis['items'][number][] = [];
  const subject = subjectOf(configDir, now);
  if ('detail' in subject) return { ok: false, items: [{ check: 'configuration', ...subject }] };
  let isStoreAway = false;
  for (const [check, run] of Object.entries(CHECKS)) {
    if (isStoreAway && READS_STORE.has(check)) continue;
    const found = await runCheck(run, subject, () => {
      isStoreAway = true;
    });
    items.push(...found.map((finding) => ({ check, ...finding })));
  }
  return { ok: items.every(({ state }) => state !== 'failed'), items };
}

function subjectOf(configDir: string, now: number): Subject | Finding {
  try {
    const config = loadConfig(process.env, configDir);
    const { file } = storeAt(storeUrl(config));
    return { config, file, isRunning: runsIn(configDir, file?.path), now };
  } catch (error) {
    return failed((error as Error).message);
  }
}

/** A check that fails itself is a finding, and the others go on. */
async function runCheck(run: Check, subject: Subject, onStoreAway: () => void): Promise<readonly Finding[]> {
  try {
    return await run(subject);
  } catch (error) {
    if (error instanceof StoreError && error.isOutage) {
      onStoreAway();
      return [failed(`No meshd starts here as it is: ${error.subject.replace(/\.$/, '')}.`)];
    }
    return [failed(`This could not be looked at: ${(error as Error).message}`)];
  }
}
