import { PARTS, startAlone } from './alone.ts';
import { announcement } from './announce.ts';
import { loadConfig } from './config.ts';
import { buildLog } from './log.ts';
import { startPlane } from './plane.ts';
import { serveStdioPlane } from './stdio-plane.ts';

/**
 * Starts the control plane of a directory, or one part of it alone.
 *
 * @throws Error that says what is wrong with the configuration, or that a listener has no place
 */
export async function startMeshd(configDir: string, asked: string | undefined) {
  const config = loadConfig(process.env, configDir);
  const log = buildLog(config.env.MESH_LOG_LEVEL);
  const part = PARTS.find((name) => name === asked);
  if (part !== undefined) return { log, stop: (await startAlone(part, config, log)).stop };
  const plane = await startPlane(config, { log });
  return {
    log,
    stop: plane.stop,
    announcement: (milliseconds: number) => announcement(config, plane, log, milliseconds),
    serveStdio: () => serveStdioPlane(plane, log),
  };
}
