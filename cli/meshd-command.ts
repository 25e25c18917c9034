import { Argument, Command, Option } from 'commander';
import { type Log, StoreError } from '../core/base/ports.ts';
import { outliveOutput } from './closed-output.ts';
import { withoutDestructive } from './destructive-words.ts';
import { runnable } from './own-command.ts';
import { systemFailure } from './system-failure.ts';
import { variable } from './variable.ts';
import { variablesHelp } from './variables.ts';

/** The program behind the command. */
interface Meshd {
  readonly version: string;
  /** The parts that can run without a control plane. */
  readonly parts: readonly string[];
  readonly defaultConfigDir: string;
  /** Names of those that the control plane reads. */
  readonly variables: readonly string[];
  /** @throws Error that says what to change */
  start(
    configDir: string,
    part: string | undefined,
    options: { readonly acceptLoss: boolean; readonly standalone: boolean },
  ): Promise<RunningMeshd>;
  /** Loads what works on the file of the store. */
  loadStoreFiles(): Promise<StoreFiles>;
  /** Loads what moves a store elsewhere. */
  loadStoreCopies(): Promise<StoreCopies>;
  /** Loads what ends the need for a second person in a workspace; it answers what it did, for people. */
  loadEndApproval(): Promise<(options: { readonly configDir: string; readonly workspace: string }) => Promise<string>>;
  /** Loads what gives an account a new initial password, generated where none is given; it answers what it did. */
  loadResetPassword(): Promise<
    (options: {
      readonly configDir: string;
      readonly username: string;
      readonly password: string | undefined;
    }) => Promise<string>
  >;
  /** Loads what makes a file of keys. @throws Error where it is there */
  loadMakeKeysFile(): Promise<(file: string) => void>;
  /** Loads what prepares a bus of NATS servers; it answers what to do next, for people. */
  loadBusConfig(): Promise<(options: { directory: string; servers: readonly string[]; now: number }) => string>;
  /** Loads what looks at an installation. */
  loadDoctor(): Promise<(configDir: string) => Promise<Diagnosis>>;
}

/** The results of examining an installation; `ok` is false where a problem keeps it from working. */
export interface Diagnosis {
  readonly ok: boolean;
  readonly items: readonly {
    readonly check: string;
    readonly state: 'ok' | 'warning' | 'failed';
    readonly detail: string;
    readonly repaired?: true;
  }[];
}

/** Each answers what it did, for people. @throws Error that says what to change */
export interface StoreFiles {
  backup(options: {
    readonly configDir: string;
    readonly file: string;
    readonly withCredentials: boolean;
  }): Promise<string>;
  restore(options: { readonly configDir: string; readonly file: string }): Promise<string>;
  compact(options: { readonly configDir: string }): Promise<string>;
}

/** The same. */
export interface StoreCopies {
  copy(options: { readonly configDir: string; readonly to: string; say(line: string): void }): Promise<string>;
  cancel(options: { readonly configDir: string }): Promise<string>;
}

interface RunningMeshd {
  readonly log: Log;
  stop(): Promise<void>;
  /** Returns the announcement of a control plane, for people. */
  announcement?(milliseconds: number): Promise<string>;
  /** Called once the announcement is written: lines of the log follow it. */
  announced?(): void;
  /** Serves one MCP client on standard input and output; resolves when it has gone. */
  serveStdio?(): Promise<void>;
}

interface MeshdOptions {
  readonly standalone?: boolean;
  readonly stdio?: boolean;
  readonly acceptLoss?: boolean;
  readonly configDir: string;
}

/** `meshd`: runs a control plane, or one part of it, until it is asked to end; or does something with its database. */
export async function runMeshd(meshd: Meshd): Promise<void> {
  await buildMeshd(meshd).parseAsync();
}

/** All of it, as help shows it. */
export function buildMeshd(meshd: Meshd): Command {
  const { version, parts, defaultConfigDir, variables } = meshd;
  const configDir = new Option('--config-dir <dir>', 'configuration, credentials and data (MESH_CONFIG_DIR)').default(
    variable('MESH_CONFIG_DIR') ?? defaultConfigDir,
  );
  const program = new Command('meshd')
    .description('The Mesh control plane')
    .version(version)
    .option(
      '--standalone',
      'the only control plane of its store, with everything else in this process; without it, one of several',
    )
    .option('--stdio', 'serve one MCP client on standard input and output as well')
    .option('--accept-loss', 'start although the database has less than the installation had')
    .addOption(configDir)
    .addArgument(new Argument('[part]', 'run one part alone, without a control plane').choices(parts))
    .showHelpAfterError()
    .configureOutput({ outputError: (text, write) => write(withoutDestructive(text)) })
    // The help options below apply to every command; the other options to the control plane alone.
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: ({ parent }) => (parent ? [configDir] : []) })
    .action((part: string | undefined, options: MeshdOptions) => run(meshd, part, options));
  addFileCommands(program, meshd);
  addCopy(program, meshd);
  addEndApproval(program, meshd);
  addResetPassword(program, meshd);
  addKeys(program, meshd);
  addDoctor(program, meshd);
  addBusConfig(program, meshd);
  const names = ['MESH_CONFIG_DIR', ...variables];
  return program.addHelpText('after', variablesHelp('Environment variables, beside config.yaml', names));
}

function addFileCommands(program: Command, { loadStoreFiles }: Meshd): void {
  const doing = (work: (files: StoreFiles, configDir: string) => Promise<string>) =>
    printResult(async () => work(await loadStoreFiles(), program.opts<MeshdOptions>().configDir));
  program
    .command('backup')
    .description('write all of the database to one file and read it back; meshd may run')
    .argument('<file>', 'replaced where it is there')
    .option('--with-credentials', 'the keys of the installation too: the file is as secret as they are')
    .action((file: string, { withCredentials = false }: { withCredentials?: boolean }) =>
      doing((files, configDir) => files.backup({ configDir, file, withCredentials })),
    );
  program
    .command('restore')
    .description('put a backup in the place of the database, which is kept beside it; meshd must not run')
    .argument('<file>', 'what meshd backup wrote')
    .action((file: string) => doing((files, configDir) => files.restore({ configDir, file })));
  program
    .command('compact')
    .description('rewrite the database without the space that nothing uses; meshd must not run')
    .action(() => doing((files, configDir) => files.compact({ configDir })));
}

function addCopy(program: Command, { loadStoreCopies }: Meshd): void {
  const to = new Option('--to <url>', 'an empty store: mongodb://…, sqlite:<file>, or @<file> that has the URL');
  program
    .command('copy')
    .description('move the store elsewhere, all of it, read back and compared; no meshd must run on it')
    .addOption(to.conflicts('cancel'))
    .option('--cancel', 'give a move up, also one that is over: meshd starts here again')
    .action(({ to, cancel = false }: { to?: string; cancel?: boolean }, command: Command) => {
      if (to === undefined && !cancel) command.error('error: name where to: --to <url>');
      const { configDir } = program.opts<MeshdOptions>();
      const say = (line: string) => process.stderr.write(`${line}\n`);
      return printResult(async () => {
        const copies = await loadStoreCopies();
        return to === undefined ? copies.cancel({ configDir }) : copies.copy({ configDir, to, say });
      });
    });
}

function addEndApproval(program: Command, { loadEndApproval }: Meshd): void {
  program
    .command('end-approval')
    .description(
      'let administrators of a workspace approve their own requests, where no second one is left; meshd must not run',
    )
    .argument('<workspace>', 'id, slug or namespace')
    .action((workspace: string) =>
      printResult(async () =>
        (await loadEndApproval())({ configDir: program.opts<MeshdOptions>().configDir, workspace }),
      ),
    );
}

function addResetPassword(program: Command, { loadResetPassword }: Meshd): void {
  program
    .command('reset-password')
    .description(
      'give an account a new initial password: typed at the terminal, the first line of standard input, or generated and shown once; meshd may run',
    )
    .argument('<user>', 'name of the account')
    .option('--generate', 'generate the password, and ask for none')
    .action((username: string, { generate = false }: { generate?: boolean }) =>
      printResult(async () => {
        const password = generate ? undefined : await initialPassword();
        const { configDir } = program.opts<MeshdOptions>();
        return (await loadResetPassword())({ configDir, username, password });
      }),
    );
}

/** Returns what is typed at the terminal or stands on standard input; undefined where that is empty. */
async function initialPassword(): Promise<string | undefined> {
  const { readSecrets } = await import('./read-secrets.ts');
  using secrets = readSecrets();
  const password = await secrets.ask('New initial password (empty: generate one): ');
  if (password === undefined || password === '') return undefined;
  if (secrets.isTerminal && (await secrets.ask('The same again: ')) !== password) {
    throw new Error('The two passwords are different: nothing was changed.');
  }
  return password;
}

function printResult(work: () => Promise<string>): Promise<void> {
  return failing(async () => {
    const text = await work();
    const { print } = await import('./answer.ts');
    await print({ value: text, text: runnable(text).split('\n') }, 'table');
  });
}

function addKeys(program: Command, { loadMakeKeysFile }: Meshd): void {
  program
    .command('keys')
    .description('make a file of new keys, for control planes that share a store (MESH_KEYS_FILE)')
    .argument('<file>', 'not there yet: keys are never replaced')
    .action((file: string) =>
      printResult(async () => {
        (await loadMakeKeysFile())(file);
        return `${file} holds the keys of a new installation: give it to each control plane by MESH_KEYS_FILE, and keep a copy.\nWhoever has it can be this installation.`;
      }),
    );
}

function addDoctor(program: Command, { loadDoctor }: Meshd): void {
  program
    .command('doctor')
    .description('look at an installation, repair what nobody could miss, and say the rest; meshd may run')
    .option('--json', 'the findings as JSON')
    .action(({ json = false }: { json?: boolean }) =>
      failing(async () => {
        const examine = await loadDoctor();
        const found = await examine(program.opts<MeshdOptions>().configDir);
        const { print } = await import('./answer.ts');
        await print({ value: found, text: found.items.flatMap(inWords) }, json ? 'json' : 'table');
        if (!found.ok) process.exitCode = 1;
      }),
    );
}

function addBusConfig(program: Command, { loadBusConfig }: Meshd): void {
  program
    .command('bus-config')
    .description('write configuration and keys for a bus of NATS servers that lets in registered nodes alone')
    .argument('<directory>', 'where to; it must hold none yet')
    .requiredOption('--servers <hosts>', 'host or host:port of each server, with commas between')
    .action((directory: string, { servers }: { servers: string }) =>
      printResult(async () => {
        const hosts = servers.split(',').map((host) => host.trim());
        return (await loadBusConfig())({ directory, servers: hosts, now: Date.now() });
      }),
    );
}

function inWords({ check, state, detail, repaired }: Diagnosis['items'][number]): string[] {
  return `${(repaired ? 'repaired' : state).padEnd(8)}  ${check.padEnd(13)}  ${runnable(detail)}`.split('\n');
}

async function failing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`meshd: ${runnable(failureText(error))}\n`);
    process.exit(1);
  }
}

function failureText(error: unknown): string {
  if (error instanceof StoreError && (error.isOutage || error.code === 'full')) return error.subject;
  const refused = systemFailure(error);
  if (refused !== undefined) return refused;
  return error instanceof Error ? error.message : String(error);
}

async function run({ start }: Meshd, part: string | undefined, options: MeshdOptions): Promise<void> {
  const started = performance.now();
  const { standalone = false, stdio = false, acceptLoss = false, configDir } = options;
  outliveOutput();
  await failing(async () => {
    const running = await start(configDir, part, { acceptLoss, standalone });
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
    if (text !== undefined) (stdio ? process.stderr : process.stdout).write(runnable(text));
    running.announced?.();
    if (stdio) {
      const gone = () => end('stdin');
      running.serveStdio?.().then(gone, gone);
    }
  });
}
