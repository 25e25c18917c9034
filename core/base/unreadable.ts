/** Why a file was not read and what to do about it, as a sentence that names it. */
export function unreadable(file: string, error: unknown): string {
  const { code, message } = error as Error & { readonly code?: string };
  switch (code) {
    case 'ENOENT':
      return `${file} cannot be read: there is no such file.`;
    case 'EACCES':
    case 'EPERM':
      return `${file} cannot be read by this user: run this as its owner, or give it to this user (chown).`;
    case 'EISDIR':
      return `${file} is a directory and has to be a file: move it away.`;
    case 'UNFIT':
      return `${file} is no regular file, or is too large: move it away.`;
    case 'ENOTDIR':
      return `${file} cannot be there: a part of its path is a file and no directory. Name another directory.`;
    case 'ELOOP':
      return `${file} leads to itself by symbolic links: replace it by a file.`;
    default:
      return `${file} cannot be read (${code ?? message}): look at its disk.`;
  }
}
