import { isServed } from '../../storage/open.ts';
import { PARTS, startAlone } from './alone.ts';
import { ConfigError, loadConfig } from './config.ts';
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
  requireStore(storeUrl(config), standalone);
  const { startPlane } = await import('./plane.ts');
  const { announcement } = await import('./announce.ts');
  const { serveStdioPlane } = await import('./stdio-plane.ts');
  const plane = await startPlane(config, { log, output, acceptLoss });
  return {
    log,
    stop: plane.stop,
    announcement: (milliseconds: number) => announcement(config, plane, log, milliseconds),
    serveStdio: () => serveStdioPlane(plane, log),
  };
}

/** Which of the two ways it runs is said twice, so that no control plane begins on an empty database by mistake. @throws Error */
function requireStore(url: string, standalone: boolean): void {
  if (isServed(url) && standalone) {
    throw new ConfigError([
      'MESH_STORE_URL: names servers, and --standalone the embedded store: leave one of them out',
    ]);
  }
  if (!isServed(url) && !standalone) {
    throw new ConfigError([
      'MESH_STORE_URL: without --standalone it has to name a MongoDB replica set: mongodb://<host>:<port>,…/<database>',
    ]);
  }
}
