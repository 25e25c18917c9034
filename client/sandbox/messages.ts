import type { RootStep } from './root-plan.ts';
import type { SandboxUser } from './user.ts';

/** Name of the overlay's interface in a sandbox. */
export const INSIDE_INTERFACE = 'mesh0';
/** Address of the name server of a sandbox, on its loopback. */
export const NAMES_ADDRESS = '127.0.0.53';
/** Descriptors by which the standard input, output and error of the command get inside. */
export const FIRST_STREAM = 4;

/** Plan of a sandbox, told to the process inside before anything is spent. */
export interface Preparation {
  readonly user: SandboxUser;
  /** Makes the namespaces' root without a user namespace. */
  readonly isRoot: boolean;
  readonly steps: readonly RootStep[];
  readonly hasTerminal: boolean;
  readonly mtu: number;
  /** An absolute path. */
  readonly program: string;
  readonly cwd: string;
  /** Directories and files that the user has to be able to read. */
  readonly read: readonly string[];
  /** Directories that the user has to be able to write to. */
  readonly written: readonly string[];
}

/** Command and surroundings, told once the overlay is up. */
export interface Beginning {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly resolvConf: string;
}

/** Descriptors of the process inside, which the process outside takes. */
export interface Prepared {
  /** As the process outside numbers it. */
  readonly pid: number;
  readonly tun: number;
  readonly routes: number;
  readonly terminal?: number;
}

/** Sent from outside. */
export type ToInside = { readonly prepare: Preparation } | { readonly begin: Beginning };

/** Sent from inside; sockets follow by their names. */
export type FromInside =
  | { readonly prepared: Prepared }
  | { readonly failed: { readonly what: string; readonly detail: string } }
  | { readonly socket: 'door' | 'egress' | 'names-tcp' | 'names-udp' };
