/** A section of the changelog, as the notes of a version. */
interface Notes {
  readonly text: string;
  /** False where it is still that of what is not released. */
  readonly isReleased: boolean;
}

/** @throws Error where the changelog has a section neither of the version nor of what is not released */
export function notesOf(changelog: string, version: string): Notes {
  const [, ...sections] = changelog.split(/^## /m);
  const find = (heading: string) => sections.find((section) => section.startsWith(`${heading}\n`));
  const released = find(version);
  const section = released ?? find('Unreleased');
  if (section === undefined)
    throw new Error(`CHANGELOG.md has no section ${version}, and none of what is not released.`);
  const entries = section.slice(section.indexOf('\n')).trim();
  return { text: `# Mesh ${version}\n\n${entries}\n`, isReleased: released !== undefined };
}
