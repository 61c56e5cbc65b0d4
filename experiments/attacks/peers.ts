/** Every address but some, as a NetworkPolicy allows them. */
export function everyoneBut(addresses: readonly string[]): { ipBlock: { cidr: string; except: string[] } }[] {
    const families = [
        { cidr: "0.0.0.0/0", bits: 32, of: addresses.filter((address) => !address.includes(":")) },
        { cidr: "::/0", bits: 128, of: addresses.filter((address) => address.includes(":")) },
    ];
    // A family that no peer is of need not be in the cluster at all.
    return families
        .filter(({ of }) => of.length > 0)
        .map(({ cidr, bits, of }) => ({ ipBlock: { cidr, except: of.map((address) => `${address}/${bits}`) } }));
}
