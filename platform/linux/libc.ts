import { arch } from 'node:process';

/** Calls the C library. */
export type Koffi = typeof import('koffi').default;

/** @returns undefined, with the reason told, where the optional package is missing, or a processor whose structures we know */
export async function loadKoffi(onMissing: (reason: string) => void = () => {}): Promise<Koffi | undefined> {
  if (arch !== 'x64' && arch !== 'arm64') {
    onMissing(`the layout of its structures on ${arch} is not known`);
    return undefined;
  }
  try {
    return (await import('koffi')).default;
  } catch (error) {
    onMissing(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
