import { PARTS, startAlone } from './alone.ts';
import { loadConfig } from './config.ts';
import { buildLog } from './log.ts';

/**
 * Starts the control plane of a directory, or one part of it alone, which holds nothing of the rest.
 *
 * @throws Error that says what is wrong with the configuration, or that a listener has no place
 */
export async function startMeshd(
  configDir: string,
  asked: string | undefined,
  { acceptLoss }: { readonly acceptLoss: boolean },
) {
  const config = loadConfig(process.env, configDir);
  const log = buildLog(config.env.MESH_LOG_LEVEL);
  const part = PARTS.find((name) => name === asked);
  if (part !== undefined) return { log, stop: (await startAlone(part, config, log)).stop };
  const { startPlane } = await import('./plane.ts');
  const { announcement } = await import('./announce.ts');
  const { serveStdioPlane } = await import('./stdio-plane.ts');
  const plane = await startPlane(config, { log, acceptLoss });
  return {
    log,
    stop: plane.stop,
    announcement: (milliseconds: number) => announcement(config, plane, log, milliseconds),
    serveStdio: () => serveStdioPlane(plane, log),
  };
}
