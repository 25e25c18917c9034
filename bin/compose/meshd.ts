import { isServed } from '../../storage/open.ts';
import { PARTS, startAlone } from './alone.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { buildLog } from './log.ts';
import { logOutput } from './log-output.ts';
import { storeUrl } from './store-url.ts';

const STDERR = 2;

/**
 * Starts the control plane of a directory, or one part of it alone, which holds nothing of the rest.
 *
 * @throws Error that says what is wrong with the configuration, or that a listener has no place
 */
export async function startMeshd(
  configDir: string,
  asked: string | undefined,
  { acceptLoss, standalone }: { readonly acceptLoss: boolean; readonly standalone: boolean },
) {
  const config = loadConfig(process.env, configDir);
  const output = logOutput(STDERR);
  const log = buildLog(config.env.MESH_LOG_LEVEL, output);
  const part = PARTS.find((name) => name === asked);
  if (part !== undefined) return { log, stop: (await startAlone(part, config, log)).stop };
  requireMode(config, standalone);
  const { startPlane } = await import('./plane.ts');
  const { announcement } = await import('./announce.ts');
  const { serveStdioPlane } = await import('./stdio-plane.ts');
  const plane = await startPlane(config, { log, output, acceptLoss, standalone });
  return {
    log,
    stop: plane.stop,
    announcement: (milliseconds: number) => announcement(config, plane, log, milliseconds),
    serveStdio: () => serveStdioPlane(plane, log),
  };
}

/** Which of the two ways it runs is said, so that no control plane begins on an empty database by mistake. @throws ConfigError */
function requireMode({ env, configDir }: Config, standalone: boolean): void {
  const servesStore = isServed(storeUrl({ env, configDir }));
  const problems: string[] = [];
  if (standalone && env.MESH_KEYS_FILE !== undefined && !servesStore) {
    problems.push(
      'MESH_KEYS_FILE: is for control planes that share a store, and MESH_STORE_URL names none: set that to mongodb://<host>:<port>,…/<database>. One with a store of its own keeps its keys in credentials.json: leave MESH_KEYS_FILE out there',
    );
  }
  if (!standalone && !servesStore) {
    problems.push(
      'MESH_STORE_URL: without --standalone it has to name a MongoDB replica set: mongodb://<host>:<port>,…/<database>',
    );
  }
  if (!standalone && env.MESH_KEYS_FILE === undefined) {
    problems.push(
      'MESH_KEYS_FILE: control planes that share a store need the same keys: make a file once with meshd keys <file>, and give it to each. A single control plane is started with --standalone',
    );
  }
  if (!standalone && env.MESH_BUS_LISTEN !== 'off') {
    problems.push(
      'MESH_BUS_LISTEN: nodes that reach one control plane by its own bus do not reach the others: name NATS servers in MESH_BUS_URL (docs/bus.md), or set MESH_BUS_LISTEN=off and do without. A single control plane is started with --standalone',
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
