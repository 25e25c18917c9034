import { Problem } from './problem.ts';

/**
 * Reads a part of the page whose script does not come with the page: the only way in which one is read.
 *
 * @throws Problem where it does not come
 */
export async function readScript<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    throw new Problem({
      title: 'This page could not be read',
      detail:
        'The control plane does not answer or was updated. Check the connection and try again, or reload the page.',
      code: 'page',
    });
  }
}
