/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and rewrites the XML of a libvirt domain; the only user of libxml. Called by
 * the power driver and by the virtual rack. Invariant: text goes in and out; no tree
 * lives longer than a call, and no network is asked for what an XML names.
 */
#include "base/domain_xml.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static xmlDocPtr
parse(const char *xml)
{
	return xmlReadMemory(xml, (int)strlen(xml), "domain.xml", NULL,
			     XML_PARSE_NONET | XML_PARSE_NOERROR);
}

static int
is(xmlNodePtr node, const char *name)
{
	return xmlStrcmp(node->name, BAD_CAST name) == 0;
}

static xmlNodePtr
first_of(xmlNodePtr parent)
{
	return parent ? parent->children : NULL;
}

static xmlNodePtr
child(xmlNodePtr parent, const char *name)
{
	xmlNodePtr node = first_of(parent);

	while (node && !is(node, name))
		node = node->next;
	return node;
}

static void
drop_order(xmlNodePtr below)
{
	xmlNodePtr boot;

	while ((boot = child(below, "boot"))) {
		xmlUnlinkNode(boot);
		xmlFreeNode(boot);
	}
}

/* Ends the document; its text where it is wanted, owned. */
static char *
end(xmlDocPtr doc, int wanted)
{
	xmlChar *text = NULL;
	char *copy = NULL;
	int size;

	if (wanted)
		xmlDocDumpMemory(doc, &text, &size);
	if (text)
		copy = bu_xstrdup((const char *)text);
	xmlFree(text);
	xmlFreeDoc(doc);
	return copy;
}

char *
bu_domain_xml_reorder(const char *xml, const char *const order[2])
{
	xmlDocPtr doc = parse(xml);
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNodePtr os = child(root, "os");
	xmlNodePtr device = first_of(child(root, "devices"));

	for (; os && device; device = device->next)
		drop_order(device);
	drop_order(os);
	for (int i = 0; os && i < 2; i++)
		xmlNewProp(xmlNewChild(os, NULL, BAD_CAST "boot", NULL), BAD_CAST "dev",
			   BAD_CAST order[i]);
	return end(doc, os != NULL);
}

static int
is_cdrom(xmlNodePtr device)
{
	xmlChar *kind =
		is(device, "disk") ? xmlGetProp(device, BAD_CAST "device") : NULL;
	int yes = kind && xmlStrcmp(kind, BAD_CAST "cdrom") == 0;

	xmlFree(kind);
	return yes;
}

static void
drop_cdroms(xmlNodePtr devices)
{
	xmlNodePtr device = first_of(devices), next;

	for (; device; device = next) {
		next = device->next;
		if (is_cdrom(device)) {
			xmlUnlinkNode(device);
			xmlFreeNode(device);
		}
	}
}

static xmlNodePtr
add(xmlNodePtr parent, const char *name, const char *const props[][2], size_t count)
{
	xmlNodePtr node = xmlNewChild(parent, NULL, BAD_CAST name, NULL);

	for (size_t i = 0; i < count; i++)
		xmlNewProp(node, BAD_CAST props[i][0], BAD_CAST props[i][1]);
	return node;
}

/* The older machine type has IDE alone, the newer one SATA alone. */
static void
add_cdrom(xmlNodePtr root, const char *file)
{
	xmlNodePtr type = child(child(root, "os"), "type"), disk;
	xmlChar *machine = xmlGetProp(type, BAD_CAST "machine");
	int sata = machine && strstr((const char *)machine, "q35");

	disk = add(child(root, "devices"), "disk",
		   (const char *const[][2]){{"type", "file"}, {"device", "cdrom"}}, 2);
	add(disk, "driver", (const char *const[][2]){{"name", "qemu"}, {"type", "raw"}},
	    2);
	add(disk, "source", (const char *const[][2]){{"file", file}}, 1);
	add(disk, "target",
	    (const char *const[][2]){{"dev", sata ? "sda" : "hdc"},
				     {"bus", sata ? "sata" : "ide"}},
	    2);
	add(disk, "readonly", NULL, 0);
	xmlFree(machine);
}

char *
bu_domain_xml_cdrom(const char *xml, const char *file)
{
	xmlDocPtr doc = parse(xml);
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNodePtr devices = child(root, "devices");
	int known = devices && child(root, "os");

	if (known) {
		drop_cdroms(devices);
		if (file)
			add_cdrom(root, file);
	}
	return end(doc, known);
}

/* <system><entry name="serial"> */
static void
read_serial(xmlNodePtr sysinfo, char *ret, size_t size)
{
	xmlNodePtr entry = first_of(child(sysinfo, "system"));

	for (; entry; entry = entry->next) {
		xmlChar *name = xmlGetProp(entry, BAD_CAST "name");
		xmlChar *text = NULL;

		if (name && xmlStrcmp(name, BAD_CAST "serial") == 0)
			text = xmlNodeGetContent(entry);
		if (text)
			bu_text_copy(ret, size, (const char *)text);
		xmlFree(text);
		xmlFree(name);
	}
}

void
bu_domain_xml_serial(const char *xml, char *ret, size_t size)
{
	xmlDocPtr doc = parse(xml);
	xmlNodePtr part = first_of(doc ? xmlDocGetRootElement(doc) : NULL);

	ret[0] = '\0';
	/* There may be several: of the firmware's configuration, too. */
	for (; part; part = part->next)
		if (is(part, "sysinfo"))
			read_serial(part, ret, size);
	xmlFreeDoc(doc);
}

static void
copy_prop(xmlNodePtr node, const char *name, char *ret, size_t size)
{
	xmlChar *text = node ? xmlGetProp(node, BAD_CAST name) : NULL;

	if (text)
		bu_text_copy(ret, size, (const char *)text);
	xmlFree(text);
}

void
bu_domain_xml_console(const char *xml, char *ret, size_t size)
{
	xmlDocPtr doc = parse(xml);
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNodePtr devices = child(root, "devices");
	xmlNodePtr port = child(devices, "serial");

	ret[0] = '\0';
	if (!port)
		port = child(devices, "console");
	copy_prop(port, "type", ret, size);
	if (strcmp(ret, "file") == 0)
		copy_prop(child(port, "source"), "path", ret, size);
	xmlFreeDoc(doc);
}

void
bu_domain_xml_macs(const char *xml, void (*fn)(const char *mac, void *arg), void *arg)
{
	xmlDocPtr doc = parse(xml);
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNodePtr device = first_of(child(root, "devices"));

	for (; device; device = device->next) {
		xmlNodePtr mac = is(device, "interface") ? child(device, "mac") : NULL;
		xmlChar *text = mac ? xmlGetProp(mac, BAD_CAST "address") : NULL;

		if (text)
			fn((const char *)text, arg);
		xmlFree(text);
	}
	xmlFreeDoc(doc);
}
