-- The products the shop opens with. A product that is there already is left alone: seeding again must not undo what
-- somebody changed since. The ids are fixed, so that each cluster and each start agrees on them.
insert into product (id, name, category) values
    ('1cb000fc-4a11-4fd3-a30d-65e5eccf7d56', 'Harbour Wool Peacoat', 'FASHION'),
    ('624408d2-25d0-4d37-9514-ed2cd3572a05', 'Linden Linen Shirt', 'FASHION'),
    ('ab9bae9b-77ae-4380-b899-781ee1606878', 'Alpine Merino Base Layer', 'FASHION'),
    ('43b4343a-65c4-4556-a059-d121c7fd99d7', 'Saltwater Canvas Sneakers', 'FASHION'),
    ('57a46451-ec16-492d-93f1-788ab6ca61a5', 'Juniper Corduroy Trousers', 'FASHION'),
    ('88c855f3-4105-4913-97df-b1a2a6efee9f', 'Meadow Pleated Midi Skirt', 'FASHION'),
    ('b7f9b955-f7ae-4ba1-8041-8d8de7411736', 'Copperline Leather Belt', 'FASHION'),
    ('f220e83d-e760-4d88-b5dc-25f72c7e0e42', 'Fjord Cable-Knit Jumper', 'FASHION'),
    ('2f6201d0-9ce7-4e83-8ab9-8eec2b9013c2', 'Northgate Rain Parka', 'FASHION'),
    ('ea0e8275-cd0d-45fd-9358-9fb6512ee3da', 'Sunday Selvedge Jeans', 'FASHION'),
    ('a3a8c6e7-27ee-40c6-b322-16ec2fd9459c', 'Timber Town Railway, 48 Pieces', 'TOYS'),
    ('199044aa-0019-4213-9c14-cbd49666a53f', 'Pocket Planetarium Projector', 'TOYS'),
    ('6f45aedd-7961-4542-8600-39d309ba91e4', 'Moss the Plush Badger', 'TOYS'),
    ('b1fdda9f-b502-413d-ac50-a8a158590099', 'Gearwright Clock-Building Set', 'TOYS'),
    ('67b7a5f7-ef01-4411-84cb-e419b7b4e32e', 'Storm Kite with Twin Tails', 'TOYS'),
    ('cf6f4266-8415-4afd-b119-1834c6391312', 'Little Baker Wooden Oven', 'TOYS'),
    ('96ba4b40-b4b2-4ee6-9a11-bfd31c354445', 'Marble Rapids Run, Deluxe', 'TOYS'),
    ('2c09b8c1-e217-4854-8946-05de52aa47da', 'Deep-Sea Submarine for the Bath', 'TOYS'),
    ('baba9812-1316-443a-a13f-de7519ba2198', 'Secret Agent Cipher Kit', 'TOYS'),
    ('b09e8c50-223c-4688-bf6c-05bcb29a3c84', 'Stackable Rainbow Arches', 'TOYS'),
    ('f694259f-787e-4276-a00b-66c0ba494899', 'Barista Burr Grinder, Save 30%', 'HOT_DEALS'),
    ('a62b5115-bed4-4cc6-abec-93b45b74141d', 'Aurora Noise-Cancelling Headphones', 'HOT_DEALS'),
    ('35ddb8a9-ae6c-4715-b378-0e58c7936d76', 'Trailhead 28-Litre Backpack', 'HOT_DEALS'),
    ('6b2da306-b894-4f0d-a4dc-ae05aa9bc43f', 'Ember Cast-Iron Casserole, 5 Litres', 'HOT_DEALS'),
    ('b6fcc810-be3b-4f20-b7c2-17bf6650353c', 'Nightjar E-Reader with Warm Light', 'HOT_DEALS'),
    ('d2d365c4-2983-494c-92cb-f959fb0b62f2', 'Breeze Cordless Stick Vacuum', 'HOT_DEALS'),
    ('d5cc122d-cafd-44c8-b344-e4aa46646ca5', 'Summit Two-Person Tent', 'HOT_DEALS'),
    ('af238647-a922-4249-b9fc-e608c4d3f831', 'Slate Mechanical Keyboard', 'HOT_DEALS'),
    ('530af3c0-cb81-485d-9dd1-238200465544', 'Glacier Insulated Bottle, Pack of Two', 'HOT_DEALS')
on conflict (id) do nothing;

insert into stock (product_id, quantity) select id, 10000 from product
on conflict (product_id) do nothing;
