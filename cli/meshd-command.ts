import { Argument, Command } from 'commander';
import type { Log } from '../core/base/ports.ts';
import { called } from './own-command.ts';

/** What the command starts. */
interface Meshd {
  readonly version: string;
  /** What can run without a control plane. */
  readonly parts: readonly string[];
  readonly defaultConfigDir: string;
  /** @throws Error that says what to change */
  start(configDir: string, part: string | undefined): Promise<Running>;
}

interface Running {
  readonly log: Log;
  stop(): Promise<void>;
  /** Of a control plane, for people. */
  announcement?(milliseconds: number): Promise<string>;
  /** Serves one MCP client on standard input and output; resolves when it has gone. */
  serveStdio?(): Promise<void>;
}

interface MeshdOptions {
  readonly standalone?: boolean;
  readonly stdio?: boolean;
  readonly configDir: string;
}

/** `meshd`: runs a control plane, or one part of it, until it is asked to end. */
export async function runMeshd({ version, parts, defaultConfigDir, start }: Meshd): Promise<void> {
  const program = new Command('meshd')
    .description('The Mesh control plane')
    .version(version)
    .option('--standalone', 'run on the embedded store, everything in this process')
    .option('--stdio', 'serve one MCP client on standard input and output as well')
    .option(
      '--config-dir <dir>',
      'configuration, credentials and data',
      process.env['MESH_CONFIG_DIR'] ?? defaultConfigDir,
    )
    .addArgument(new Argument('[part]', 'run one part alone, without a control plane').choices(parts))
    .showHelpAfterError();

  const started = performance.now();
  const { standalone, stdio = false, configDir } = program.parse().opts<MeshdOptions>();
  const [part] = program.args;
  if (!standalone && part === undefined) {
    process.stderr.write('meshd runs with --standalone: this version has no distributed store yet.\n');
    process.exit(2);
  }

  try {
    const running = await start(configDir, part);
    const { log } = running;
    // Whatever state it left, nothing may be done in: the process ends, and its supervisor starts another.
    process.on('uncaughtException', (err, origin) => {
      log.error({ err, origin }, 'an error that nothing handled: the process ends');
      process.exit(1);
    });
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
    const text = await running.announcement?.(performance.now() - started);
    // Standard output belongs to MCP where it is served there.
    if (text !== undefined) (stdio ? process.stderr : process.stdout).write(called(text));
    if (stdio) {
      const gone = () => end('stdin');
      running.serveStdio?.().then(gone, gone);
    }
  } catch (error) {
    process.stderr.write(`meshd: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
