import { loadConfig, nonEmptyVariables } from './config.ts';
import { configWarnings, logWarnings } from './config-warnings.ts';
import { buildLog } from './log.ts';
import { bufferedOutput, logOutput } from './log-output.ts';
import { logSentence } from './log-sentence.ts';
import { PARTS, startSinglePart } from './single-part.ts';
import { startProblems } from './start-problems.ts';
import { startWatchdog } from './watchdog/watchdog.ts';

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
  const config = loadConfig(
    process.env,
    configDir,
    await startProblems(nonEmptyVariables(process.env), { part, standalone }),
  );
  // A person reads the announcement first; every other reader gets the lines as they come.
  const isPerson = process.stdout.isTTY && process.stderr.isTTY;
  const { output, release } = isPerson
    ? bufferedOutput(logOutput(STDERR, undefined, logSentence))
    : { output: logOutput(STDERR), release() {} };
  const log = buildLog(config.env.MESH_LOG_LEVEL, output);
  const watchdog = startWatchdog(log, { isSupervised: config.env.MESH_SUPERVISED ?? isMainOfService(process.env) });
  /** Stops under the watchdog, which ends the process where that does not move. */
  const watched = (stop: () => Promise<void>) => async () => {
    watchdog.stopping();
    await stop();
    await watchdog.end();
  };
  if (part !== undefined) {
    release();
    logWarnings(configWarnings(config), log);
    const running = await startSinglePart(part, config, log);
    watchdog.serving();
    return { log, stop: watched(running.stop) };
  }
  const { startPlane } = await import('./plane.ts');
  const { announcement } = await import('./announce.ts');
  const options = { log, output, acceptLoss, standalone, stalls: watchdog.stalls };
  const plane = await startPlane(config, options).catch((error: unknown) => {
    // The lines on the way there explain the failure.
    release();
    throw error;
  });
  watchdog.serving();
  return {
    log,
    stop: watched(plane.stop),
    announcement: (milliseconds: number) => announcement(config, plane, { log, isPerson, milliseconds }),
    announced: release,
    serveStdio: async () => (await import('./stdio-plane.ts')).serveStdioPlane(plane, log),
  };
}

/** Tells whether systemd started this very process as a service, and so sees it end (systemd.exec(5)). */
function isMainOfService({ SYSTEMD_EXEC_PID: pid }: NodeJS.ProcessEnv): boolean {
  return pid === String(process.pid);
}
