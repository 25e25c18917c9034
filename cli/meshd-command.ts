import { Argument, Command } from 'commander';
import { PARTS, startAlone } from '../bin/compose/alone.ts';
import { ConfigError, DEFAULT_CONFIG_DIR, loadConfig } from '../bin/compose/config.ts';
import { buildLog } from '../bin/compose/log.ts';
import { startPlane } from '../bin/compose/plane.ts';
import { serveStdioPlane } from '../bin/compose/stdio-plane.ts';
import { announce } from './announce.ts';
import { VERSION } from './version.ts';

interface MeshdOptions {
  readonly standalone?: boolean;
  readonly stdio?: boolean;
  readonly configDir: string;
}

const program = new Command('meshd')
  .description('The Mesh control plane')
  .version(VERSION)
  .option('--standalone', 'run on the embedded store, everything in this process')
  .option('--stdio', 'serve one MCP client on standard input and output as well')
  .option(
    '--config-dir <dir>',
    'configuration, credentials and data',
    process.env['MESH_CONFIG_DIR'] ?? DEFAULT_CONFIG_DIR,
  )
  .addArgument(new Argument('[part]', 'run one part alone, without a control plane').choices(PARTS))
  .showHelpAfterError();

const started = performance.now();
const { standalone, stdio = false, configDir } = program.parse().opts<MeshdOptions>();
const part = PARTS.find((name) => name === program.args[0]);
if (!standalone && part === undefined) {
  process.stderr.write('meshd runs with --standalone: this version has no distributed store yet.\n');
  process.exit(2);
}

try {
  const config = loadConfig(process.env, configDir);
  const log = buildLog(config.env.MESH_LOG_LEVEL);
  const plane = part === undefined ? await startPlane(config, { log }) : undefined;
  const running = plane ?? (await startAlone(part ?? 'relay', config, log));
  const end = (signal: NodeJS.Signals | 'stdin') => {
    log.info({ signal }, 'stopping');
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error: String(error) }, 'did not stop cleanly');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(1));
      end(signal);
    });
  }
  if (plane) announce(config, plane, log, { stdio, milliseconds: performance.now() - started });
  if (stdio && plane)
    serveStdioPlane(plane, log).then(
      () => end('stdin'),
      () => end('stdin'),
    );
} catch (error) {
  const message = error instanceof ConfigError || error instanceof Error ? error.message : String(error);
  process.stderr.write(`meshd: ${message}\n`);
  process.exit(1);
}
