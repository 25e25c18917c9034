/** The node that a service manager starts, and the places that it may write to. */
export interface NodeService {
  /** The command as it is installed. */
  readonly launcher: string;
  /** The directory of this software and the Node that runs it, which have to be readable wherever they are. */
  readonly software: readonly string[];
  /** The directory that `mesh init` wrote. */
  readonly directory: string;
  readonly isDirectoryRoots: boolean;
  readonly interfaceName: string;
  /** It runs in userspace mode under the service manager of one user; left out: that of the machine. */
  readonly isUsers?: boolean;
  /** Further options of `mesh up`. */
  readonly options: readonly string[];
}

export type ServiceState = 'running' | 'stopped' | 'failed' | 'not installed';

export interface ServiceStatus {
  readonly name: string;
  readonly file: string;
  readonly state: ServiceState;
  /** True if it starts with the machine. */
  readonly atBoot: boolean;
  readonly pid: number | null;
  /** The service manager's own description, for people. */
  readonly detail: string;
}

/** The service manager of an operating system. */
export interface ServiceManager {
  /** Where a person reads what the node logs. */
  logHint(interfaceName: string): string;
  /** Arguments of journalctl for what the node logs; left out: see `logFile`. */
  journal?(interfaceName: string): readonly string[];
  /** Where it logs to a file of its own; undefined where there is a journal. */
  logFile?(interfaceName: string): string;
  /** The file that describes the service to it. */
  render(service: NodeService): string;
  /** The interface of the node of a directory, where that is a service. */
  find(directory: string): string | undefined;
  /**
   * @returns puts back what was there before, and what it did; undefined where there was nothing
   * @throws Error with what the manager said; then what was there before is back
   */
  install(service: NodeService): Promise<(() => Promise<void>) | undefined>;
  start(interfaceName: string): Promise<void>;
  /** @returns false where there is none, or where it is of another directory than the one that is named */
  uninstall(interfaceName: string, directory?: string): Promise<boolean>;
  status(interfaceName: string): Promise<ServiceStatus>;
}
