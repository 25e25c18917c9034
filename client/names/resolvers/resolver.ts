import type { runProgram } from '../../run-program.ts';

/** Settings of the host's resolver: the server to ask for which names. */
export interface Route {
  readonly interfaceName: string;
  /** Address of this node in the overlay; its server is on port 53 there. */
  readonly address: string;
  /** Also what short names are completed with. */
  readonly domain: string;
  readonly reverse: readonly string[];
}

/** A way in which a host can be told to ask a server for some names alone. */
export interface HostResolver {
  readonly name: string;
  isHere(): Promise<boolean>;
  /** May be repeated. @throws Error with what the host said */
  set(route: Route): Promise<void>;
  /** Why programs of this host may not ask it all the same, and what a person does; empty where they do. Never throws. */
  unasked?(route: Route): string;
  /** Takes away what was set for an interface, by this process or one before it. Idempotent; never throws. */
  unset(interfaceName: string): Promise<void>;
}

export type Run = typeof runProgram;

/** @throws Error with what the program said */
export async function must(run: Run, file: string, args: readonly string[], stdin = ''): Promise<void> {
  const { code, stderr } = await run(file, args, { stdin });
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} failed: ${stderr.trim()}`);
}
