import { PARTS, startAlone } from './alone.ts';
import { givenIn, loadConfig } from './config.ts';
import { buildLog } from './log.ts';
import { logOutput } from './log-output.ts';
import { startProblems } from './start-problems.ts';

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
  const part = PARTS.find((name) => name === asked);
  const config = loadConfig(process.env, configDir, await startProblems(givenIn(process.env), { part, standalone }));
  const output = logOutput(STDERR);
  const log = buildLog(config.env.MESH_LOG_LEVEL, output);
  if (part !== undefined) return { log, stop: (await startAlone(part, config, log)).stop };
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
