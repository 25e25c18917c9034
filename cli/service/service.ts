/** What a service manager starts, and where it may write. */
export interface NodeService {
  /** The command as it is installed. */
  readonly launcher: string;
  /** Of this software: it has to be readable, wherever it lies. */
  readonly installation: string;
  /** What `mesh init` wrote. */
  readonly directory: string;
  readonly isDirectoryRoots: boolean;
  readonly interfaceName: string;
  /** Further options of `mesh up`. */
  readonly options: readonly string[];
}

export type ServiceState = 'running' | 'stopped' | 'failed' | 'not installed';

export interface ServiceStatus {
  readonly name: string;
  readonly file: string;
  readonly state: ServiceState;
  /** Whether it starts with the machine. */
  readonly atBoot: boolean;
  readonly pid: number | null;
  /** What the service manager says of it, for people. */
  readonly detail: string;
}

/** The service manager of an operating system. */
export interface ServiceManager {
  /** Where a person reads what the node logs. */
  logHint(interfaceName: string): string;
  /** Where it logs to a file of its own; undefined where there is a journal. */
  logFile?(interfaceName: string): string;
  /** The file that describes the service to it. */
  render(service: NodeService): string;
  /** @throws Error with what the manager said */
  install(service: NodeService): Promise<void>;
  /** @returns false where there is none, or where it is of another directory than the one that is named */
  uninstall(interfaceName: string, directory?: string): Promise<boolean>;
  status(interfaceName: string): Promise<ServiceStatus>;
}
