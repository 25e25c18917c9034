/**
 * Work on the network of one workspace that takes time which grows with it. Input and output are plain data, so that a
 * computing thread can do it.
 */
export interface Computation<Services, Input, Output> {
  readonly name: string;
  readonly run: (services: Services, workspace: string, input: Input) => Promise<Output>;
}

/** For whom: places in the queue are shared by workspace, and then by caller. */
export interface Asker {
  readonly workspace: string;
  /** Id of the caller. */
  readonly principal: string;
  readonly requestId: string;
}

/** A {@link Computation} that is asked of a thread, as plain data. */
export interface ComputationCall extends Asker {
  readonly computation: string;
  readonly input: unknown;
}

/**
 * Has a computation done, where that holds nobody up.
 *
 * @throws MeshError of the computation; `unavailable` where it could not be done: nothing may be taken for granted then.
 */
export type Computed<Services> = <I, O>(computation: Computation<Services, I, O>, input: I, asker: Asker) => Promise<O>;
