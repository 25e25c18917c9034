declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly method: 'GET' | 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    /** Puts another id in the place of `[<id>]` in each body. */
    readonly idReplacement?: boolean;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
  }
  interface Result {
    readonly '2xx': number;
    readonly non2xx: number;
    readonly errors: number;
    /** Seconds. */
    readonly duration: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}
